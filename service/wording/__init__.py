"""Wording: a language model's words for what was worked out here, where one is configured."""
