"""Templates of Typst and data to PDF: `pdf` compiles, `house.typ` has the page, palette and type of all templates."""
