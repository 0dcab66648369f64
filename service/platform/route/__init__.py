"""A route as a row: its declaration, its types, and the OpenAPI document.

A row has method, path, access, refusals and event; the handler's signature has the types. From both follow
validation, authorisation, limits, idempotency, audit, OpenAPI and the contract tests. Start with `api`.
`descriptions` has words for fields that mean the same in several records, `patch` derives a patch from a create. The
document is made at its first request.
"""
