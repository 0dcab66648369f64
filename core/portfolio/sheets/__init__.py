"""Where the loans stand in a sheet: the header above them, and where they end."""
