"""What a caller did wrong when loans could not be mapped."""


class MappingError(ValueError):
    """Columns that cannot become a portfolio: one is missing, lengths differ, a type or a limit does not fit."""
