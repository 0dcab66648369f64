"""Webhooks: URLs of a tenant that get its events.

A trigger on the audit log writes a delivery for each webhook that asked, in the same transaction. The payload is made
there, once, and sent and signed to the byte. One job serves the line of a webhook (`webhook_queues`): it sends the
first that waits, outside of any transaction, and goes behind others after ten seconds. Locks are taken in one order
(a webhook's row, the chain's head, its line), so neither line nor delivery has a foreign key to the webhook.
"""
