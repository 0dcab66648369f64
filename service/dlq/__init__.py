"""Dead letters: background work that failed for good.

A dead letter is retried as a new job, in one transaction with what takes its record out of the error state. The job's
row brings that statement, since this area knows no other. The entry is locked first, so of a retry and a discard one
comes first. Operators read all tenants' entries by a view that changes nothing; what they change, they change as the
entry's tenant.
"""
