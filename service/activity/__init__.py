"""Activity: what happened in a tenant, for its members.

It reads the audit log and shows it to everybody of the tenant, without what only admins may see.
"""
