"""The audit log: read and exported.

The log itself is written by `platform/data/audit.py` and the database's `append_audit`. `cushion audit` checks an
export.
"""
