"""Causes and remedies of refusals: the paragraphs of the page of errors."""

from __future__ import annotations

from typing import Final, NamedTuple


class Help(NamedTuple):
    """A message's paragraph, in Markdown; links are relative to the page of errors."""

    cause: str
    remedy: str


_LIMITS: Final = "The figure is a [setting](reference/settings.md); `errors` names it."


def _absent(record: str, where: str) -> Help:
    return Help(
        f"No {record} of your tenant has this identifier: it is misspelt, was deleted, or belongs to another tenant.",
        f"Take the identifier from `GET /api/v1/{where}`.",
    )


def _full(records: str, remedy: str) -> Help:
    return Help(f"The tenant has as many {records} as it may. {_LIMITS}", remedy)


def _off(what: str) -> Help:
    return Help(
        f"Whoever runs the deployment has switched {what} off by a feature flag.",
        "Try again later. Nothing of yours is lost, and work that was accepted before waits.",
    )


HELP: Final = {
    # ---- who calls
    "Incorrect email or password": Help(
        "No active user has this e-mail and this password. Which of the two is wrong is not told.",
        "Type both again, or have a new password sent by `POST /api/v1/auth/password/forgot`.",
    ),
    "Incorrect password": Help(
        "`current_password` is not the user's password.",
        "Send the password that is in force. Who has forgotten it logs out and asks for a reset.",
    ),
    "Invalid API key": Help(
        "The key in `X-API-Key` is misspelt, was revoked or rotated, has expired, or its creator is no longer active.",
        "Look at `GET /api/v1/admin/api-keys`, and make another key (`POST /api/v1/admin/api-keys`) where it is gone.",
    ),
    "Invalid two-factor code": Help(
        "The code is wrong, was used before, or belongs to another half minute: the clock of the phone may be off.",
        "Wait for the next code and send that; or send one of the recovery codes, each of which works once.",
    ),
    "Not authenticated": Help(
        "The request carries neither a token nor an API key.",
        "Log in by `POST /api/v1/auth/login` and send `Authorization: Bearer` with the access token, or send `X-API-Key`.",
    ),
    "Two-factor code required": Help(
        "The user has two-factor authentication turned on, and the login came without a code.",
        "Send the form field `otp_code` with the code of the authenticator, or with a recovery code.",
    ),
    "User account is deactivated": Help(
        "An owner or admin of the tenant has deactivated the user.",
        "Ask one of them to set the user's status to `active` again.",
    ),
    "Invalid or expired token": Help(
        "An access token is good for fifteen minutes by default; this one has ended, is cut off, or was signed with another key. "
        "In a password reset: the link was used before, or has run out.",
        "Get another access token by `POST /api/v1/auth/refresh`, or log in. For a password ask for another link "
        "(`POST /api/v1/auth/password/forgot`).",
    ),
    "Invalid refresh token": Help(
        "The refresh token has ended, is cut off, or is an access token. A browser's session (`X-Session: cookie`) takes it from its "
        "cookie alone, every other session from the body alone.",
        "Log in again, and keep the refresh token of the answer.",
    ),
    "All tokens have been revoked": Help(
        "The user's password, role or status changed, or somebody called `POST /api/v1/auth/revoke-all-tokens`.",
        "Log in again.",
    ),
    "Refresh token has been revoked": Help(
        "The refresh token was used before, or its session was ended by a logout. A second use ends the whole session, since it may be a thief's. "
        "Only in a browser's session the token just replaced is answered again, for ten seconds.",
        "Log in again. Use each refresh token once, and replace it by the one in the answer.",
    ),
    "Token has been revoked": Help(
        "The token was good, and its session has ended: by a logout, a new password, role or status, or an admin.",
        "Log in again.",
    ),
    # ---- what they may
    "Insufficient permissions": Help(
        "The user's role or the key's scopes do not include what this endpoint needs; `errors` names it.",
        "Ask an owner or admin for the role, or for a key with the scope.",
    ),
    "IP address not allowed": Help(
        "The tenant's `allowed_ip_ranges` leave out the address that the request came from.",
        "Call from an address within them, or have an admin add yours (`PATCH /api/v1/admin/tenant`).",
    ),
    "Tenant is suspended": Help(
        "The tenant was suspended or cancelled. Nobody of it can log in meanwhile.",
        "Ask whoever runs the deployment to activate it again.",
    ),
    "Two-factor enrolment required": Help(
        "The tenant requires two-factor authentication, and this user has not set it up.",
        "Begin with `POST /api/v1/auth/2fa/enroll` and end with `POST /api/v1/auth/2fa/verify`; everything else is open then.",
    ),
    "Enterprise tier required": Help(
        "The audit log is for tenants of the enterprise tier.",
        "Ask whoever runs the deployment for that tier.",
    ),
    "Cannot remove owner": Help(
        "An owner cannot be removed while they own the tenant.",
        "Make another user the owner first: `POST /api/v1/admin/tenant/transfer-ownership`.",
    ),
    "Cannot remove self": Help("Nobody removes their own user.", "Ask another owner or admin."),
    "Cannot demote the last owner": Help(
        "A tenant always has an owner, and this user is the only one.",
        "Make another user the owner first: `POST /api/v1/admin/tenant/transfer-ownership`.",
    ),
    "Cannot modify system mapping": Help(
        "Built-in mappings are the same for every tenant.",
        "Make one of your own with its name as `profile_id` (`POST /api/v1/mappings`), and change that.",
    ),
    "Cannot delete system mapping": Help(
        "Built-in mappings are there for every tenant.",
        "Leave it; a workbook that names another mapping does not use it.",
    ),
    "File belongs to another tenant": Help(
        "The file is an export of another tenant, whose manifest this deployment signed.",
        "Have a user of that tenant verify it.",
    ),
    # ---- limits of a tenant
    "Workbook limit exceeded": _full("workbooks", "Delete workbooks that are no longer needed, or ask for another tier."),
    "User limit exceeded": _full(
        "users, pending invitations included,", "Remove users or withdraw invitations, or ask for another tier."
    ),
    "API key limit exceeded": _full("active API keys", "Revoke keys that nothing uses, or ask for another tier."),
    "Storage limit exceeded": _full("stored bytes", "Delete workbooks, tapes and exports, or ask for another tier."),
    "Alert limit exceeded": _full("alerts", "Delete alerts that nobody reads."),
    "Deal limit exceeded": _full("deals", "Delete deals that have ended."),
    "Batch limit exceeded": _full("batches in work", "Wait until one of them is completed, or cancel one."),
    "Export limit exceeded": _full("exports in work", "Wait until one of them is completed, or cancel one."),
    "Report limit exceeded": _full("reports in work", "Wait until one of them is completed."),
    "Formula limit exceeded": _full("formulas, or this formula as many versions,", "Change a formula that is there in place of making another."),
    "Mapping limit exceeded": _full("mappings", "Delete mappings that no workbook names."),
    "Nomination limit exceeded": _full("nominated workbooks", "Take the nomination off another workbook."),
    "Scenario limit exceeded": _full("scenarios", "Delete scenarios that are done."),
    "Trade limit exceeded": Help(f"The scenario has as many trades as it may. {_LIMITS}", "Remove trades, or begin another scenario."),
    "Stream profile limit exceeded": _full("stream profiles", "Delete profiles whose streams have ended."),
    "Webhook limit exceeded": _full("webhooks", "Delete webhooks that nothing listens to."),
    # ---- too much at once
    "Rate limit exceeded": Help(
        "More requests came in a span of time than the tenant's tier, the key or this endpoint permits. The headers `X-RateLimit-*` tell the figures.",
        "Wait for as many seconds as `Retry-After` says, and spread the requests.",
    ),
    "Calculation quota exceeded": Help(
        "The tenant has used up the calculations of its month. Each formula of a batch counts as one.",
        "Wait for the first day of the next month, or ask for another tier.",
    ),
    "Regeneration limit reached": Help(
        "A session's insights can be generated anew three times.",
        "Begin another session: `POST /api/v1/insights/generate`.",
    ),
    "Too many connections from this address": Help(
        "One address holds as many connections as it may.",
        "Close connections or use them again (keep-alive, HTTP pipelines of one client), and try again.",
    ),
    # ---- absent
    "Not found": Help(
        "There is no such path, or the deployment does not show it.",
        "Compare the path with the [API](reference/api/index.md): all endpoints begin with `/api/v1/`.",
    ),
    "Method not allowed": Help(
        "The path is there, and has no such method.", "Use one that the header `Allow` of the answer names."
    ),
    "API key not found": _absent("API key", "admin/api-keys"),
    "Alert not found": _absent("alert", "alerts"),
    "Deal not found": _absent("deal", "deals"),
    "Dead letter not found": _absent("dead letter", "dlq/entries"),
    "Batch not found": _absent("batch", "batches"),
    "Export not found": _absent("export", "exports"),
    "Formula not found": _absent("formula", "formulas"),
    "Issue not found": _absent("issue", "reconciliation/issues"),
    "Job not found": Help(
        "No job of your tenant has this identifier, or it ended more than a week ago.",
        "Take the identifier from the answer that started the job, and read the record that it works on.",
    ),
    "Mapping not found": _absent("mapping", "mappings"),
    "Notification not found": _absent("notification of yours", "notifications"),
    "Report not found": _absent("report", "reports"),
    "Result not found": Help(
        "No compliance run of your tenant has this identifier, or it is another workbook's.",
        "Take the identifier from `GET /api/v1/compliance/history`.",
    ),
    "Scenario not found": _absent("scenario", "scenarios"),
    "Test not found in this run": Help(
        "The run has no test of this identifier: its suite lacks the test, or the run left it out.",
        "Take a `test_id` from `GET /api/v1/compliance/results/{result_id}`, from its results or its skipped tests.",
    ),
    "Session not found": Help(
        "No session of insights of yours has this identifier. Each user sees their own only.",
        "Read the present one by `GET /api/v1/insights/sessions/current`, or begin one by `POST /api/v1/insights/generate`.",
    ),
    "Insight not found": Help(
        "No session of yours has this insight: generating anew replaces the earlier ones.",
        "Read the insights of the present session: `GET /api/v1/insights/sessions/current`.",
    ),
    "No active session": Help(
        "There is no session of insights that has not ended.", "Begin one by `POST /api/v1/insights/generate`."
    ),
    "Stream profile not found": _absent("stream profile", "admin/compliance/stream-profiles"),
    "Tape not found": _absent("tape", "reconciliation/tapes"),
    "Tenant not found": Help(
        "No tenant has this slug or identifier, or you may not reach into it.",
        "Leave `X-Tenant-ID` out, unless you operate the deployment.",
    ),
    "Threshold not found": Help(
        "No threshold of your tenant has this identifier.",
        "Take the identifier from `GET /api/v1/compliance/thresholds`. Limits of a suite or a definition have none and cannot be deleted.",
    ),
    "Trade not found": Help("The scenario has no trade with this identifier.", "Take it from `GET /api/v1/scenarios/{scenario_id}`."),
    "User not found": _absent("user", "admin/users"),
    "Webhook not found": _absent("webhook", "webhooks"),
    "Delivery not found": Help(
        "The webhook has no delivery with this identifier. Deliveries are kept for a month by default.",
        "Take the identifier from `GET /api/v1/webhooks/{webhook_id}/deliveries`.",
    ),
    "Workbook not found": _absent("workbook", "workbooks"),
    "Sheet not found": Help(
        "The workbook has no sheet of this name or identifier.",
        "Take the name from `GET /api/v1/workbooks/{workbook_id}/sheets`; a name with a slash is given by the sheet's `id`.",
    ),
    "Column not found": Help(
        "The sheet has no column of this header or letters.", "Look at the sheet's header row, and name a column of it."
    ),
    "Version not found": Help(
        "The formula has no such version.", "Take the version from `GET /api/v1/formulas/{config_id}/versions`."
    ),
    "Definition not found": Help(
        "The deal has no definition.", "Give it one: `PUT /api/v1/deals/{deal_id}/definition`, [for instance a ready-made one](reference/definition.md)."
    ),
    "File not found": Help(
        "The workbook has no file of this number, or its bytes are no longer kept.", "Leave the number out, or count from 1 in the order of the upload."
    ),
    "Sealed PDF not found": Help(
        "The export was made without a sealed PDF.", "Ask for it when you make the export, and download the export itself meanwhile."
    ),
    "Profile not found": Help(
        "`profile_id` names no built-in mapping.", "Take one of those that `GET /api/v1/mappings` lists as the system's."
    ),
    "Unknown service": Help(
        "No part of the deployment that is watched has this name.", "Take the name from `GET /health/degradation/full`."
    ),
    # ---- states
    "Already processed": Help(
        "A request with this `Idempotency-Key` was processed. Its answer holds a secret, which is not kept.",
        "Use what the first answer gave. If it was lost, delete or rotate the secret and send a new key.",
    ),
    "Idempotency key was used for another request": Help(
        "This `Idempotency-Key` came with another body, path or caller within the last day.",
        "Make a new key for each new request, and repeat only the very same request under the same key.",
    ),
    "Request with this idempotency key is still being processed": Help(
        "The first request under this `Idempotency-Key` has not ended.", "Wait a moment and send it again: it gets the first answer."
    ),
    "Concurrent modification": Help(
        "Somebody changed the record since you read it: its ETag is no longer the one in `If-Match`.",
        "Read the record again, make the change on that, and send its new ETag.",
    ),
    "Workbook is not ready": Help(
        "The workbook is being read or recalculated, or could not be read.",
        "Poll `GET /api/v1/workbooks/{workbook_id}` until `status` is `ready`. In `error`, read `error_message` and upload a better file.",
    ),
    "Workbook in use": Help(
        "The workbook is being read or recalculated, or a scenario that is not completed names it as its base.",
        "Wait for the job to end; delete those scenarios, or give them another base.",
    ),
    "Workbook has no compliance run": Help(
        "A report shows a run, and the workbook has none.", "Run a suite first: `POST /api/v1/compliance/run`."
    ),
    "Workbook has several files": Help(
        "The workbook was uploaded as several files, and the request names none of them.", "Name one by its number, from 1, in the order of the upload."
    ),
    "Test already running": Help(
        "A run of this suite on this workbook has not ended.", "Wait for it and read its result; a run takes a moment."
    ),
    "Mapping already exists": Help("The tenant has another mapping of this name.", "Choose another name, or change the mapping that is there."),
    "Mapping in use": Help(
        "A workbook, tape or deal names this mapping.", "Give those another mapping (`PATCH` with `mapping_id`), and delete it then."
    ),
    "Column already exists": Help(
        "The sheet has a column of this header, and the request asks for a new one.",
        "Choose another header, or write over it with `output_mode: overwrite`.",
    ),
    "Formula is not a draft": Help("Only a draft can be activated.", "Look at the formula's `status`; make another formula for another draft."),
    "Formula is not active": Help("Only an active formula can be applied, versioned or archived.", "Activate it: `PATCH` with `status: active`."),
    "Status change not allowed": Help(
        "A formula goes from draft to active, from active to archived, and from archived to active.", "Take one of these steps."
    ),
    "Batch has no results yet": Help(
        "The batch waits or runs, or it failed or was cancelled and has no result file; `errors` has its status.",
        "Ask `GET /api/v1/batches/{batch_id}` until it is `completed`. Runs that were done are in "
        "`GET /api/v1/compliance/history`, whatever became of the batch.",
    ),
    "Batch has ended": Help("The batch was completed, failed or was cancelled before.", "There is nothing left to cancel."),
    "Results of the batch have expired": Help(
        "The result file is kept for a week (`CUSHION_EXPORT_TTL_SECONDS`).",
        "Run the batch again; its runs stay in `GET /api/v1/compliance/history`.",
    ),
    "Export is not ready": Help(
        "The export is still being made, failed, or was cancelled.", "Poll `GET /api/v1/exports/{export_id}` until `status` is `completed`; else read its error."
    ),
    "Export has ended": Help("The export was completed, failed or was cancelled before.", "There is nothing left to cancel."),
    "Report is not ready": Help(
        "The report is still being made, or failed.", "Poll `GET /api/v1/reports/{report_id}` until `status` is `completed`; else read `error_details`."
    ),
    "Export has expired": Help(
        "Files of exports are kept for a week by default, and this one's time is over.", "Make the export again; the record of the old one stays."
    ),
    "Report has expired": Help(
        "Files of reports are kept for a week by default, and this one's time is over.", "Make the report again; the record of the old one stays."
    ),
    "Scenario in use": Help("The scenario is being calculated.", "Wait until its `status` is no longer `calculating`."),
    "Tape has no completed comparison": Help(
        "The report shows a comparison, and the tape has none that is completed.", "Compare it first: `POST /api/v1/reconciliation/compare`."
    ),
    "Tape not ready": Help(
        "The tape is being read, or could not be read.",
        "Poll `GET /api/v1/reconciliation/tapes/{tape_id}` until `processing_status` is `completed`; in `failed`, upload a better file.",
    ),
    "Stream key already in use": Help("Another deal of the tenant has this stream key.", "Give this deal another key, or take it off the other one."),
    "Stream profile already exists": Help("The tenant has a profile for this stream key.", "Change that one: `PATCH` it by its identifier."),
    "Dead letter is not pending review": Help("The dead letter was retried, resolved or discarded before.", "Read its `status`; nothing is left to do."),
    "Maximum retries exceeded": Help(
        "The task was retried as often as it may be, and failed each time.", "Read its error. If the cause is gone, retry with `force`; else resolve or discard it."
    ),
    "Task cannot be retried": Help(
        "The record that the task worked on has moved on: it is ready, was replaced, or is gone.", "Resolve or discard the dead letter, and start the work anew."
    ),
    "Webhook is disabled": Help("The webhook failed for days and was disabled, or somebody disabled it.", "Mend its address, enable it by `PATCH`, and replay then."),
    "API key is not active": Help("The key was revoked, or has expired.", "Make another one: `POST /api/v1/admin/api-keys`."),
    "User already exists": Help("A user of this deployment has this e-mail; one e-mail is one user.", "Use another e-mail, or log in as that user."),
    "User has not accepted the invitation": Help("The user was invited and has not set a password yet.", "Have them accept, or send another invitation."),
    "User is not active": Help("Ownership goes to active users only.", "Activate the user first."),
    "User is an owner already": Help("The user owns the tenant.", "There is nothing to transfer."),
    "Two-factor enrolment has not begun": Help("There is no secret that a code could belong to.", "Begin with `POST /api/v1/auth/2fa/enroll`."),
    "Two-factor is already enabled": Help("The user has two-factor authentication.", "Disable it first to enrol another device."),
    "Two-factor is not enabled": Help("The user has no two-factor authentication that could be turned off.", "Nothing is left to do."),
    "Tenant slug already exists": Help("Another tenant has this slug.", "Choose another one."),
    "The address ranges leave out the one that you call from: send confirm to set them all the same": Help(
        "With these `allowed_ip_ranges` the next request from your address would be refused.",
        "Add your own range, or send `confirm: true` if you will call from elsewhere.",
    ),
    "The days in which the tenant could come back are over": Help(
        "A deleted tenant can come back for some days only, after which its records are removed.", "Register a new tenant."
    ),
    # ---- files
    "Invalid file format": Help(
        "The name does not end in a format that is read, or the bytes are of another one than the name says.",
        "Save the file as .xlsx in a spreadsheet program. All formats are listed in [files](reference/files.md).",
    ),
    "File too large": Help(
        f"The file has more bytes than an upload may have, or than the tenant's own `max_workbook_size_mb`. {_LIMITS}",
        "Remove pictures and sheets that nobody needs, save it as .xlsx or .xlsb, or split it.",
    ),
    "Too many sheets": Help(f"The workbook has more sheets than a workbook may. {_LIMITS}", "Remove sheets that hold no data of the deal."),
    "Parse error": Help(
        "The bytes cannot be read: the file is damaged or encrypted, expands to more than it may, or is not what its name says.",
        "Open the file in a spreadsheet program, take its password off, save it as .xlsx and send that. See [files](reference/files.md).",
    ),
    "Stored data is damaged": Help(
        "Stored bytes are not those that were written: the storage failed. No figure is made of them.",
        "Upload the same file again, which mends the bytes. Whoever runs the deployment looks at its disk, see [when something is wrong](operations/trouble.md).",
    ),
    "Range not satisfiable": Help("The bytes that were asked for are past the end of the file.", "Ask without `Range`; `Content-Range` tells the length."),
    # ---- requests
    "Validation error": Help(
        "A field or parameter is missing, misspelt, of the wrong type or out of range. `errors` lists each with its place, and what may have been meant.",
        "Correct what `errors` names. Each [endpoint's page](reference/api/index.md) lists its fields.",
    ),
    "Header given twice": Help("A header that counts once came twice, so that two readers could understand the request differently.", "Send it once."),
    "Request body too large": Help(f"The body has more bytes than this endpoint takes. {_LIMITS}", "Send less at a time."),
    "Request body too slow": Help(
        "The body did not arrive in its time: the connection is slow, or the client stopped sending.",
        "Send it again over a better connection, and make the body ready before you open the request.",
    ),
    "Unsupported media type": Help(
        "`Content-Type` or `Content-Encoding` is none that this endpoint reads.",
        "Send JSON as `application/json`, files as `multipart/form-data`, and the body without compression.",
    ),
    "Registration is closed": Help(
        "The deployment has a tenant already, and lets nobody register by themselves (`CUSHION_OPEN_REGISTRATION`).",
        "Ask an owner or admin of your tenant for an invitation. Or ask who runs the deployment for a tenant, made with the system API key.",
    ),
    "Email already registered": Help("A user of this deployment has this e-mail.", "Log in, reset the password, or register with another e-mail."),
    "Invalid or expired invitation": Help(
        "The invitation was accepted before, was withdrawn, or is older than its days.", "Ask an owner or admin for another one."
    ),
    "Invalid role": Help("The role is none of the tenant's, or you may not grant it.", "Take one that `errors` lists; only an owner grants `owner`."),
    "The confirmation is not the user's e-mail": Help(
        "`confirm` must be the e-mail of the user who is to be erased, so that nobody is erased by mistake.", "Send that e-mail, letter by letter."
    ),
    "Invalid request": Help("The export's options do not go together, or the file is none that can be verified.", "Correct what `errors` names."),
    "Invalid status": Help("The status is none that a review can give.", "Take one that `errors` lists."),
    # ---- formulas
    "Invalid formula": Help(
        "The text is no formula: a bracket, quote, operator or argument is missing or misplaced. `errors` tells the place.",
        "Correct it there; `POST /api/v1/calculations/validate` tries a formula without a value.",
    ),
    "Unsupported function": Help(
        "The formula calls a function that is misspelt or not in the catalogue.",
        "Take the one that `errors` suggests, or look it up among the [functions](reference/functions/index.md).",
    ),
    "Missing context": Help(
        "The formula refers to a cell or a name that neither `context` nor a workbook gives.",
        "Give its value in `context`, or name a `workbook_id`.",
    ),
    "Evaluation error": Help(
        "The formula gives an error such as #DIV/0!, and `error_handling` is `throw`. `errors` names the error and its cell.",
        "Correct the cell, wrap the formula in IFERROR, or take the mode `excel`, which gives the error as a value.",
    ),
    "Formula cannot be previewed": Help(
        "The graph is right, and calculating it on the sample failed.", "Read `errors`, and try its parts one by one."
    ),
    "Invalid formula graph": Help(
        "A node or edge is missing, has an unknown port, or stands in a circle. `errors` names it.",
        "Correct it; `POST /api/v1/formulas/validate` checks a graph without storing it.",
    ),
    # ---- mappings, tapes
    "Invalid mapping configuration": Help(
        "A column, transform or rule of the mapping cannot work. It may have an empty target, two sources for one target, an unknown operation, or a wrong parameter.",
        "Correct what `errors` names; [mapping](how-to/map.md) has examples.",
    ),
    "Invalid source type": Help("`source_type` is none that a mapping can have.", "Take one that `errors` lists."),
    "Mapping takes too long": Help(
        "Reading the loans with this mapping takes longer than it may, mostly for a pattern or formula on many rows.",
        "Make its patterns and formulas simpler, or the workbook smaller.",
    ),
    "Invalid trustee": Help("`trustee` is none whose tapes are known.", "Take one that `errors` lists, or `generic`."),
    "Invalid date": Help("The day cannot be read.", "Write it as YYYY-MM-DD."),
    "Invalid rules": Help("A rule of the comparison does not exist, or its tolerance is no number.", "Take names that `errors` lists."),
    # ---- compliance, deals, scenarios
    "Invalid test suite": Help("The suite is none that is run.", "Take `standard`, `enhanced`, or `deal` for the tests of the deal's own definition."),
    "Unknown test": Help(
        "No suite and no definition of the deal has a test with this identifier.",
        "Take the one that `errors` suggests, or look it up among the [compliance tests](reference/compliance-tests.md).",
    ),
    "Run takes too long": Help(
        "The run takes longer than it may, mostly for formulas of the definition over many loans.", "Make the definition's formulas simpler."
    ),
    "Invalid definition": Help(
        "The definition has a key, value or formula that cannot be used. `errors` tells the line.",
        "Correct it there; [definitions](reference/definition.md) lists all keys.",
    ),
    "Invalid trade": Help(
        "A trade cannot be made: it names no loan or several, sells more than is held, or lacks a field that a bought loan needs.",
        "Correct what `errors` names; [trades](how-to/trades.md) has examples.",
    ),
    "Scenario has no base workbook": Help("The scenario names no workbook whose loans are traded.", "`PATCH` it with a `base_workbook_id`."),
    "No trades keep every test": Help(
        "Among the loans that could be bought and sold no trades were found with which every test holds.",
        "Offer more loans, allow larger trades, or leave out tests that fail already.",
    ),
    "Objective cannot be optimized": Help(
        "The figure that is to be improved cannot be worked out for this portfolio, or no trade changes it.",
        "Choose another objective, or map the columns that it needs.",
    ),
    # ---- insights, alerts
    "No nominated workbooks": Help(
        "Insights are made of nominated workbooks, and there is none.", "Nominate one: `PUT /api/v1/insights/nominations/{workbook_id}`."
    ),
    "Invalid question": Help("The question is empty, too long, or no text.", "Ask in one or two sentences, as in [insights](how-to/insights.md)."),
    "Invalid stakeholder type": Help("The reader that the insights are for is none that is known.", "Take one that `errors` lists."),
    "Invalid alert type": Help("The alert's type is none that is known.", "Take one that `errors` lists; [alerts](how-to/alerts.md) tells of each."),
    "Invalid channel type": Help("The channel is none that is known.", "Take one that `errors` lists."),
    "Invalid conditions": Help(
        "The conditions do not fit the alert's type: a metric, operator or figure is missing or unknown.", "Correct what `errors` names."
    ),
    "Channel configuration error": Help(
        "The channel cannot be used as it is configured: an address is missing, malformed, or not public.",
        "Correct what `errors` names. Private addresses need `CUSHION_ALLOW_PRIVATE_WEBHOOKS`.",
    ),
    # ---- the service itself
    "Service temporarily unavailable": Help(
        "A part that the request needs (database, queue, storage) does not answer, or all places are taken.",
        "Try again after `Retry-After` seconds. `GET /health/degradation/full` says what is away.",
    ),
    "Scheduled maintenance in progress": Help(
        "Whoever runs the deployment has put it into maintenance.", "Try again after `Retry-After` seconds; keep your tokens, they stay good."
    ),
    "Switched off for now": _off("this feature"),
    "Exports are switched off for now": _off("exports"),
    "Insights are switched off for now": _off("insights"),
    "Questions are switched off for now": _off("questions"),
    "Recalculation is switched off for now": _off("recalculation"),
    "Registration is closed for now": _off("registration"),
    "Reports are switched off for now": _off("reports"),
    "Simulations are switched off for now": _off("simulations"),
    "The assistant is switched off for now": _off("the assistant"),
    "Uploads are switched off for now": _off("uploads"),
    "Internal server error": Help(
        "A fault of the service, not of the request.",
        "Try again once. If it stays, give the `request_id` to whoever runs the deployment: the log has the reason under it.",
    ),
}  # fmt: skip
"""The messages, by the words that the caller reads."""
