"""The loans of stored workbooks, mapped once for all areas that need them.

It also searches the open choices of a file once for a workbook, mapping, day and rules, in a confined child, and
keeps the record. Each run reads the kept portfolio by it in microseconds. No routes.
"""
