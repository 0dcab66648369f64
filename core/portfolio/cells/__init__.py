"""The cells of a column to values in a field's unit, each distinct string once."""
