"""Exports of a workbook: what is asked for (`order`), the work from redaction to files (`run`), the zones, the seal."""
