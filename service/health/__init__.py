"""Health: whether the service lives, is ready, and what it lacks; switches.

The views are public, so each that costs more than memory is looked at once a second for all callers, `deep` once in
five. A caller who comes meanwhile waits for the same look. A failure is shown by its kind, since messages name hosts.
"""
