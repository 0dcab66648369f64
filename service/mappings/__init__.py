"""Mappings: how the columns of a source become standard fields.

A mapping is stored as the JSON of its author in their order (`json`, since `jsonb` would sort it), and resolved with
the profile that it extends when it is used. A change counts from the next run on. A workbook holds its mapping by a
foreign key, so "in use" is the database's own knowledge: deleting is 409, naming one that has just gone 404.
"""
