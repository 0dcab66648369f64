"""What the suite measured, as tables and pictures.

`python -m bench.report FILE.json ...` (`__main__.py`).
"""
