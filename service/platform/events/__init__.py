"""High-rate events: their stream, their numbers, and those that are counted.

`calculation.completed` and failed logins cost no database trip. They are on a Redis stream before the answer goes
out, and a worker appends them in batches. An entry is signed, and numbered by its process for each tenant
(`numbers`). What has not arrived after `CUSHION_EVENT_GAP_SECONDS` becomes an entry `audit.events_missing`. `calls`
counts calculations by caller, workbook and minute, and makes one entry of a minute that is over. What neither Redis
nor PostgreSQL takes is answered 503.
"""
