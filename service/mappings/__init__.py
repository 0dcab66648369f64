"""Mappings: how the columns of a source become standard fields."""
