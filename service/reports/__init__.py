"""Reports on compliance runs and reconciliations, as documents."""
