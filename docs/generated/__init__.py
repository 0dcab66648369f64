"""The pages of reference, each made from what it tells of."""
