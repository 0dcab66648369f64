"""A route as a row: its declaration, its types, and the OpenAPI document that is read from it."""
