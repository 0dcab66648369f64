"""Which rows below a header are loans: the words, the odd rows, sums, and what is no collateral."""
