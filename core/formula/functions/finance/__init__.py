"""Functions of loans, bonds and depreciation."""
