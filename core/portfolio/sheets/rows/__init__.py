"""Which rows below a header are loans: words, odd rows, sums, no collateral."""
