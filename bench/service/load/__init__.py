"""Load on a running service: mixes of requests as users send them, made by wrk, beside an empty endpoint in turn."""
