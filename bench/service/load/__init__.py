"""Load on a running service.

Mixes of requests as users send them, made by wrk, beside an empty endpoint in turn.
"""
