"""Exports of a workbook: .xlsx in three zones, delimited text, JSON, PDF.

In: a workbook and an `ExportOrder` (`order`: options, lineage, a run's tests, keys), which is data and can be sent to
a child. Out: files in a folder. Start with `run`.

    Workbook -> redact -> foundation (chosen sheets) -> provenance (their hash) -> files
                           |- checks, control, workspace -> draft.settle -> two more sheets (.xlsx)
                           |- pages -> typeset -> PDF -> seal -> signed PDF

- Foundation: the chosen sheets. A formula stays where all that it reads comes along, else its value alone does. Excel
  offers to repair a file whose formulas name what is not there. What the writer would leave out goes here already, so
  that what is hashed is what is written.
- Workspace and Control are drafts, cells with a style and a format. Our engine calculates their formulas before they
  are written, so a program that opens the file sees the values that it would calculate. They use functions of Excel
  2010.
- A test's status is a formula of value and limit. Where digits that the run does not keep decided, it is a word.
- Pages hold at most 50,000 cells (4 s, 0.8 GB), small sheets first. Tags, some 300 bytes a cell, end at 20,000.
- `seal` writes the PDF's increment itself: pyHanko's own writer puts a new date and producer into the metadata, which
  PDF/A does not allow.
"""
