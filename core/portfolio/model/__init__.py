"""What a portfolio is: fields, loans as typed columns, notes, deal, facts, ratings."""
