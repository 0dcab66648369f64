"""Frames on their way in and out; short reprs and tables for notebooks.

In: frames of pandas, polars, Arrow and whatever has `__arrow_c_stream__` (`given`). Out: a `Frame` of NumPy columns,
text as codes and a pool. It becomes Arrow by `_arrow.pyx`, the C data interface, whose structs hold references to the
arrays. So no package is needed to hand a portfolio to polars or DuckDB, and numbers are shared. nanoarrow would do it
too. But every reader would need it, and the text columns would still be ours to gather. What an object shows stands
in `framed.py` beside its class; `brief`, `notebook` and `figures` have the forms.
"""
