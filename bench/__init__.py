"""Benchmarks: each checks its answers first, then times the work beside a peer in the same run."""

import os

# Before any of them imports Polars, whichever comes first: one thread each, if nothing else is said.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
