"""Mappings that people write: fields, parameters, transforms, rules, trustees."""
