"""PDF documents to a workbook: the tables that a trustee prints.

In: bytes. Out: a sheet for each run of pages with the same headings, with page and line of each row, and remarks.

`characters` (what PDFium gives) -> `words` (words and lines in a frame in which text is upright) -> `sections` (runs of
pages; `running` knows what pages repeat) of `blocks` (lines that share columns) -> `columns` (gutters and cells) ->
`rows` (wrapped cells joined) -> `sheets` (names and typed cells, by `values`).
"""

from core.files.pdf.read import read_pdf

__all__ = ["read_pdf"]
