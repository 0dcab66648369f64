"""The words of the code.

`python -m tests.words` checks names, class names and complexity that is left to stand.
"""
