"""A query over one portfolio to its figures and sentences."""
