"""Jobs' row."""

from __future__ import annotations

from service.jobs import store
from service.jobs.schema import JobNotFound, JobState
from service.platform.route.api import Area, WaitQuery, Waits
from service.platform.unit.context import Context

area = Area("/api/v1/jobs", tag="jobs")
BUSY = frozenset({"pending", "running"})


@area.get(
    "/{job_id}",
    access="any",
    errors=(JobNotFound,),
    waits=Waits("job_id", BUSY, lambda job: (job.status, job.progress), key=store.announced_id),
)
async def get_job(ctx: Context, job_id: str, query: WaitQuery) -> JobState:
    """Say how far a job is.

    Its identifier is in the answer to a tape's upload. One that ended is kept for some weeks.
    """
    return await store.get(ctx, job_id)
