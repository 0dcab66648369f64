"""Where an export comes from, and whether it still shows what was exported: hash, signed manifest, verdict."""
