"""Machine code that is known at run time only.

Python source of one loop is compiled by Numba in another process.

`written` is what is compiled: a source and its signature. `loops` counts the work of each recipe and asks for code
where that is worth it. `compiler` is the program that compiles, at the lowest priority; it alone imports Numba. It
leaves object code in the folder of `folder`, from where `code` loads it by llvmlite. Until then, and where there is no
Numba (`pip install 'cushion[native]'`), callers calculate in chunks.
"""
