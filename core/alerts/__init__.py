"""When an alert is raised.

Conditions, the metrics that they name, and what runs and their history say of them.
"""
