"""Every area's jobs: what the worker runs, and what the API gives back to it."""

from __future__ import annotations

from service.platform.work.jobs import JobTable


def jobs() -> JobTable:
    """Every area's jobs."""
    from service.admin.jobs import jobs as admin
    from service.alerts.jobs import jobs as alerts
    from service.batches.jobs import jobs as batches
    from service.exports.jobs import jobs as exports
    from service.formulas.jobs import jobs as formulas
    from service.platform.work.cleanup import jobs as cleanup
    from service.platform.work.mail import jobs as mail
    from service.reconciliation.jobs import jobs as reconciliation
    from service.reports.jobs import jobs as reports
    from service.webhooks.jobs import jobs as webhooks
    from service.workbooks.jobs import jobs as workbooks

    tables = (workbooks, reconciliation, formulas, exports, batches, reports, alerts, webhooks, mail, cleanup, admin)
    return JobTable({name: job for table in tables for name, job in table.jobs.items()})
