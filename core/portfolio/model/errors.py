"""What a caller did wrong when loans could not be mapped."""


class MappingError(ValueError):
    """Columns that cannot become a portfolio: missing, unequal, wrong type or size."""
