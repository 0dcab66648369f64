"""What one text of a cell says: footnotes, figures and days."""
