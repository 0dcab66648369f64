"""Child processes of an API process: what takes long is worked out there, in fair shares, and holds up nobody."""
