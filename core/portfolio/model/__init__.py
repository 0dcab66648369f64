"""What a portfolio is: fields, typed columns of loans, notes, facts, ratings.

Start with `fields` (a row for each field: its names, kind and unit) and `portfolio`. `facts` holds what a file prints
about itself, `inputs` which fields a figure reads, `ratings` the agencies' ladders. Nothing here reads a file.
"""
