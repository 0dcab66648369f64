"""Identity: registration, login, tokens, invitations accepted."""
