"""What every other folder of the platform uses: refusals, callers, secrets, breakers, fair shares, caches."""
