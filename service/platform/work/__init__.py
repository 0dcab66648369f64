"""Work beside requests: jobs, mail, clean-up, requests outwards, metrics.

A job is a row (`jobs`) that goes to a queue (`queues`) and is run under a lease (`runner`). `process` opens and closes
what a process needs.
"""
