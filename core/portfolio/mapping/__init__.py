"""Mappings that people write: configuration checked, transforms and rules run."""
