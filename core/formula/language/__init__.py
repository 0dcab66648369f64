"""The formula language: text to tree, tree to text, a tree's shape, and the faults of a formula."""
