"""The words of a question to its query, by rows of a grammar."""
