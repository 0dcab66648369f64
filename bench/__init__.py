"""Benchmarks: each checks its answers first, then times the work beside a peer in the same run."""
