"""What identity lends its neighbours: whose an e-mail is, and the end of a user's tokens."""

from service.auth.store import find_account, revoke_tokens

__all__ = ["find_account", "revoke_tokens"]
