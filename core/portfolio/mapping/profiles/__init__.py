"""Mappings that people write: their fields, parameters, transforms and rules, and those of trustees."""
