"""Mappings that people write: their configuration checked, their transforms and rules carried out."""
