"""Access: who may call, what they may do, and how often.

The gate (`gate`, `gate.lua`) decides a request in one Redis round trip; while Redis is away each process decides for
itself (`fallback`). `caller_cache` keeps signed copies of callers, `revocations` and `switches` what ends or closes at
once, `rights` what is asked once more at each COMMIT.
"""
