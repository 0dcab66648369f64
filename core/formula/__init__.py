"""Excel's formula language: text to tree, tree to program, program to a value."""
