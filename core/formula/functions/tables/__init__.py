"""Functions that look things up in ranges, or count, sort and group them."""
