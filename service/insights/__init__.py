"""Insights: nominated workbooks are analysed, and questions about them answered.

A nomination is a row of its workbook. A later month takes it over by a view (`nominated_workbooks`), so an upload
knows nothing of it and a deleted month gives it back. All is read before the analysis begins, and no connection is
held meanwhile. The analysis ends at the first suite run after its time. A refused generation gives its place in the
day back.
"""
