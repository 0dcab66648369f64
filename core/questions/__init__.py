"""Questions in plain English over portfolios and their runs, answered by figures or not at all."""
