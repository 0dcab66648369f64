"""The formula builder: graphs, their versions, and applying one to a column.

Applying is a job. The workbook stays `ready` and is read as it was: `written_by` names the run, and other writers are
refused meanwhile. The child writes only the sheets that changed. Blobs, manifest, records and the end of the run are
one commit.
"""
