"""Machine code for formulas that run down long columns: one loop for a formula.

`recipe` says what such a loop does and which kinds of columns it is for. `text` writes it in LLVM's language; `loops`
has it compiled in the background, where that is worth it, and keeps it. The chunks (`columns`) serve until then, and
for whatever a loop is not for: text, an error, an overflow, numbers equal at 15 digits.

A formula gets a loop after 100 million rows times steps. Loops have at most 256 steps, and a process 256 loops. The
compiler is llvmlite's, in a thread that gives the interpreter up for 25 ms. Without it (`pip install
'cushion[native]'`) there are none.
"""
