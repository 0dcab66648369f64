"""Documents that jobs make: bytes with a name, a type and an expiry. No routes.

The record that names a document is written in the same transaction. A function expires what is due by marking its
blob as left, and the clean-up frees it. The row stays, so a list still has the size.
"""
