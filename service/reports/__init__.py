"""Reports on compliance runs and reconciliations, as documents.

The worker gathers what is stored and writes it as JSON; a confined child redacts and sets it. A report never shows
another figure than the run's. What needs loans is computed again by the run's own mapping, definition and day. Where
one figure then differs, nothing that the loans give is shown.
"""
