"""What every other folder uses: refusals, callers, secrets, breakers, caches."""
