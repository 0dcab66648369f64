"""Templates of Typst and data to PDF.

In: a template and data as JSON, never as source. Out: PDF/A bytes. `pdf` compiles, `texts` replaces characters that
no font shows, `house.typ` has the common look. Fonts are those of Typst's package, and the only date is the caller's,
so the same order gives the same bytes. A layout that does not settle is an error here; the compiler only warns and
numbers every page 1.
"""
