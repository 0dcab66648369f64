"""What-if trades: a portfolio after buys and sells, and every test of a suite before and after them."""
