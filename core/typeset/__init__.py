"""Templates of Typst and data to PDF: `pdf` compiles, `texts` makes texts fit, `house.typ` has the look of all."""
