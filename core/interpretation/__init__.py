"""How the choices that a file leaves open are read.

Searched for by the file's own figures, never by chance.
"""
