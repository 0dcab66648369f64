"""What is behind a figure: its parts, which add up to the numerator."""
