"""What a person may do through a page or the API: checked, carried out by a use case, recorded."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.model import BadInput, NotFound
from schedmate.model.access import CORRECTION, WITHDRAWAL
from schedmate.service.actions import is_in_attempt
from schedmate.service.usecases.persons_decisions import (
    correct_diagnosis,
    decide_on_rule,
    withdraw_correction,
)
from schedmate.service.usecases.revert import revert
from schedmate.service.wiring import open_scheduler
from schedmate.web.asking import FOR_OPERATORS
from schedmate.web.job_page import may_stop, readable_job

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.model.action import Reverted
    from schedmate.model.lessons import LearnedRule
    from schedmate.service.views.job_view import JobView
    from schedmate.service.visibility import Viewer
    from schedmate.web.site import Site

LONGEST_NOTE = 500


def correct(
    site: Site, viewer: Viewer, job_id: JobId, reason: str, *, note: str = "", for_all: bool
) -> JobView:
    """What the job's newest attempt really died of; the job as the viewer sees it then."""
    view = readable_job(site, job_id, viewer)
    before = view.diagnoses.get(view.job.restarts)
    correct_diagnosis(
        site.store, view.job, reason, by=viewer.user, at=time.time(), note=note, for_all=for_all
    )
    was = "" if before is None else f"was {before.reason}, "
    detail = f"{was}is {reason}{', for all such failures' if for_all else ''}"
    _record(site, viewer, CORRECTION, f"job {view.job.id}", f"{detail} {note}".strip())
    return readable_job(site, job_id, viewer)


def withdraw(site: Site, viewer: Viewer, job_id: JobId) -> JobView:
    """The correction of the job's newest attempt; the job as the viewer sees it then."""
    view = readable_job(site, job_id, viewer)
    before = view.diagnoses.get(view.job.restarts)
    found = withdraw_correction(site.store, view.job, operator=viewer.operator)
    was = "" if before is None else f"was {before.reason}, "
    _record(site, viewer, WITHDRAWAL, f"job {view.job.id}", f"{was}is {found.reason} again")
    return readable_job(site, job_id, viewer)


def undo(
    site: Site, viewer: Viewer, job_id: JobId, *, dry_run: bool = False
) -> tuple[Reverted, ...]:
    """What SchedMate did to a job, as far as it still can be undone."""
    readable_job(site, job_id, viewer)
    _operators_only(viewer)
    scheduler, now = open_scheduler(site.settings), time.time()
    found = tuple(revert(scheduler, site.store, now=now, job_id=job_id, dry_run=dry_run))
    if not found:
        raise BadInput(f"there is nothing to undo of job {job_id}")
    if not dry_run:
        detail = "; ".join(f"{one.kind}: {one.outcome}: {one.text}" for one in found)
        _record(site, viewer, "revert", f"job {job_id}", detail)
    return found


def stop(site: Site, viewer: Viewer, job_id: JobId) -> JobView:
    """End a run that goes on for nothing; its owner and operators may, through the scheduler."""
    view = readable_job(site, job_id, viewer)
    if not may_stop(viewer, view) or view.doomed is None:
        raise BadInput(f"job {job_id} does not run on for nothing, or is another user's")
    scheduler = open_scheduler(site.settings)
    if not is_in_attempt(scheduler, view.job.id, view.job.restarts):
        raise BadInput(f"job {job_id} has been queued again, or is over")
    scheduler.cancel(view.job.id)
    _record(site, viewer, "stop a run", f"job {view.job.id}", view.doomed.action.why)
    return view


def decide(site: Site, viewer: Viewer, rule_id: str, *, accept: bool) -> LearnedRule:
    """On what a model proposes."""
    _operators_only(viewer)
    kept = decide_on_rule(site.store, rule_id, accept=accept, by=viewer.user)
    outcome = f"refused: {kept.refused}" if kept.refused else "accepted"
    action = "accept a rule" if accept else "refuse a rule"
    _record(site, viewer, action, f"rule {rule_id}", outcome)
    return kept


def _operators_only(viewer: Viewer) -> None:
    if not viewer.operator:
        raise NotFound(FOR_OPERATORS)


def _record(site: Site, viewer: Viewer, action: str, about: str, detail: str) -> None:
    site.record(viewer, action, about, detail)
    site.refresh()
