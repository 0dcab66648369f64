"""What a portfolio is: fields, typed columns, notes, deal, facts, ratings."""
