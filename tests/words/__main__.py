"""Run the check of words: `python -m tests.words`."""

from tests.words.check import main

main()
