"""Alerts: what a tenant wants to be told of its workbooks, and by which channels."""
