"""Machine code for formulas that run down long columns: one loop for a whole formula, made while the program runs.

`recipe` says what such a loop does and which kinds of columns it is for; `text` writes it in LLVM's language; `loops`
has it compiled in the background, where that is worth it, and keeps it. The chunks (`columns`) serve until then, and
whatever a loop is not for.
"""
