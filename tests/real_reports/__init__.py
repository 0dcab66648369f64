"""Real files as delivered, without a definition.

Which of their printed figures come out, and which columns are read.

`python -m tests.real_reports` prints the scoreboard; tests read the same records.
"""
