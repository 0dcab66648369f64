"""Where an export comes from, and whether it still shows what was exported.

In: a file, and the record or key of its export. Out: a verdict with the cells that differ. The hash, the manifest and
the verdicts are defined in the guide (`docs/reference/manifest.md`). Start with `canonical`, `manifest` and `verify`.

- `_canonical.pyx` makes the canonical bytes of a column, a megabyte at a time, and OpenSSL hashes them, both without
  the interpreter. Formulas are read once for each shape.
- LibreOffice decided the definition. It keeps 15 digits of a number, and writes TRUE and errors as formulas. It
  recalculates array formulas and volatile ones, and believes formulas' texts only in files that name Excel or itself
  as their maker.
- The server keeps fingerprints (SipHash under a key of its own), not the file, to name changed cells.
- `audit` holds a file against lists before it is read: `package` the archive and its parts, `grammar` the small
  parts, `_strict` each row, cell and string. So a trick needs no entry of its own: what is in no list is reported.
- `shown` hashes how cells are shown: number formats, hidden rows, merges, tables.

A million cells and 100,000 formulas take 3.5 s to verify on a busy machine, 0.8 s of it for the audit.
"""
