"""Wording: a language model's words for what was computed here.

The built-in text is ready before a model is asked, so a model costs time at most. Instructions and facts are two
messages. Names out of the file are words such as NAME_AAA there, so no cell can give an order, and are put back after
the check (`core/grounding`). The transaction is committed before the request. Nothing is tried twice: the reader
waits.
"""
