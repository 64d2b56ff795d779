"""Who sees what: the one place that decides it.

The operator (the store's owner, root, or a user of the site's `operators` setting) sees all of it,
with secrets of other users masked. Every other user sees their own jobs whole, and of other users'
jobs what squeue would show (id, user, state, times, nodes, what was asked for) and derived numbers,
but no text: no log line, no evidence, no script, no command, no path, no name, no comment. The
fields that they see are listed here; every other field is empty for them, new ones too.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from schedmate.model import NotSignedIn, Workload
from schedmate.model.account import account_name
from schedmate.model.masking import masked
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedmate.config import Settings
    from schedmate.handler.suspects import Suspicion
    from schedmate.model import Advice, Job, JobId, PastRun, Progress
    from schedmate.model.access import Token
    from schedmate.model.lessons import LearnedRule, Origin, PastFailure
    from schedmate.store import Store

HIDDEN = "(of another user)"
FEWEST_USERS = 3
"""What fewer users had is not counted for others: it would be about one of them."""
_DAY_S = 86_400.0
T = TypeVar("T")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OF_JOB = _names(
    "id user state request nodes cluster submit_time first_submit start_time end_time "
    "eligible_time restarts nice most_nice nice_an_hour soft_limit priority held tasks components"
)
_OF_REQUEST = _names(
    "gpus no_gpus gpu_type nodes cpus memory_mb time_limit_s time_min_s partition exclude_nodes "
    "required_nodes features reservation account qos"
)
_OF_RUN_TO_PREDICT_BY = _names(
    "job fingerprint workload steps_done steps_unit checkpoint_step startup_s profile "
    "gpu_memory_mb gpu_utilization"
)
_OF_RUN = _OF_RUN_TO_PREDICT_BY - _names("fingerprint profile checkpoint_step workload")
_OF_PROGRESS = _names(
    "schema phase unit current total fraction fraction_of epoch ends_by rate_per_s elapsed_s eta_s "
    "slowdown silence confidence cost"
)
_OF_ADVICE = frozenset({"schema", "prediction", "cost"})
_OF_PREDICTION = frozenset({"basis", "duration_s", "outcome", "gpu_memory_mb", "gpu_utilization"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who asks; every method returns what this user may see of its argument."""

    user: str
    operator: bool
    token: Token | None = None
    """By which the user has signed in, where it was one."""

    def may_read(self, owner: str) -> bool:
        """Whether the text of this user's jobs is shown; unknown owners are not the viewer."""
        return self.operator or (bool(owner) and owner == self.user)

    def job(self, job: Job) -> Job:
        if self.may_read(job.user):
            return with_masked_comment(job)
        request = _only(_OF_REQUEST, job.request)
        return _only(_OF_JOB, job, name="", workdir="", request=request)

    def run(self, run: PastRun) -> PastRun:
        """Digests would show who runs the same code, the curve how its work went."""
        shown = self.run_to_predict_by(run)
        return shown if self.may_read(run.job.user) else _only(_OF_RUN, shown)

    def run_to_predict_by(self, run: PastRun) -> PastRun:
        """For predictions of the viewer's jobs, which compare digests and never show them."""
        if self.may_read(run.job.user):
            job = self.job(run.job)
            return self._of(job.user, run if job is run.job else replace(run, job=job))
        job, workload = self.job(run.job), _numbers(run.workload)
        return _only(_OF_RUN_TO_PREDICT_BY, run, job=job, workload=workload)

    def advice(self, advice: Advice, owner: str, owner_of: Callable[[JobId], str]) -> Advice:
        """`owner_of` returns the owner of a past job: matches of the viewer are named."""
        if self.operator:
            return advice
        prediction = advice.prediction
        if not self.may_read(owner):
            shown = _only(_OF_PREDICTION, prediction, explanation="")
            return _only(_OF_ADVICE, advice, workload=Workload(), prediction=shown)
        own = tuple(match for match in prediction.matches if self.may_read(owner_of(match.job)))
        return replace(advice, prediction=replace(prediction, matches=own))

    def progress(self, progress: Progress, owner: str) -> Progress:
        """How far and how fast; metrics have names that the job chose."""
        if self.may_read(owner):
            return progress
        return _only(_OF_PROGRESS, progress, log="")

    def suspicion(self, suspicion: Suspicion) -> Suspicion:
        """Reason and time of a failure would name the job of another user that had it.

        Nor are failures counted by which one user's job could be recognised.
        """
        if self.operator:
            return suspicion
        own = tuple(one for one in suspicion.evidence if self.may_read(one.user))
        seen = replace(suspicion, probability=_tenths(suspicion.probability), evidence=own)
        if suspicion.users >= FEWEST_USERS:
            return seen
        return replace(seen, failures=len(own), users=min(1, len(own)))

    def rules(self, rules: Iterable[LearnedRule]) -> list[LearnedRule]:
        """Those of the viewer's own logs; for operators all."""
        return [self.rule(rule) for rule in rules if self.may_read(rule.origin.owner)]

    def rule(self, rule: LearnedRule) -> LearnedRule:
        """A pattern keeps the words of the line it was made of; a refusal quotes a log.

        When it last answered is when a job of any user failed of its reason.
        """
        if self.operator:
            return self._of(rule.origin.owner, rule)
        rule = replace(rule, refused=self.refusal(rule.refused), last_hit=_day(rule.last_hit))
        if self.may_read(rule.origin.owner):
            return rule
        return replace(
            rule,
            reason=HIDDEN,
            pattern=HIDDEN,
            words=(),
            positives=(HIDDEN,),
            origin=_without_source(rule.origin),
            hits=0,
            last_hit=None,
        )

    def refusal(self, why: str) -> str:
        """Why a rule is refused, without the line of another user's log that speaks against it."""
        return why if self.operator else why.partition(": ")[0]

    def failures(self, failures: Iterable[PastFailure]) -> list[PastFailure]:
        """Of the viewer's own logs; for operators all."""
        return [
            self._of(one.origin.owner, one) for one in failures if self.may_read(one.origin.owner)
        ]

    def _of(self, owner: str, value: T) -> T:
        """Without what looks like a secret, where it is another user's."""
        return value if owner in ("", self.user) else masked(value)


def owners_in(store: Store) -> Callable[[JobId], str]:
    """Whose a past job was; empty where the store does not know it."""

    def owner_of(job_id: JobId) -> str:
        run = store.run(job_id)
        return "" if run is None else run.job.user

    return owner_of


def viewer_of(settings: Settings) -> Viewer:
    """Who runs this process, and whether the store in use is theirs."""
    user = account_name()
    mine = os.getuid() in (0, _owner_of_store(settings))
    return Viewer(user=user, operator=mine or user in settings.operators)


def operators_only(settings: Settings) -> None:
    """NotSignedIn for who is none at the store in use."""
    if not viewer_of(settings).operator:
        raise NotSignedIn("this is for operators: whose store it is, root, and `operators`")


def _owner_of_store(settings: Settings) -> int | None:
    """One that is not there yet will belong to whom makes it."""
    try:
        return settings.database.stat().st_uid
    except FileNotFoundError:
        return os.getuid()
    except OSError:
        return None


def _numbers(workload: Workload) -> Workload:
    """What predictions scale by, without the lines and names it was read from."""
    kept: dict[str, Any] = {}
    for field in fields(Workload):
        found = getattr(workload, field.name)
        if found is not None and isinstance(found.value, int | float):
            kept[field.name] = replace(found, evidence=())
    return Workload(**kept)


def with_masked_comment(job: Job) -> Job:
    """A comment is free text that a scheduler shows to anyone: secrets in it are masked for all."""
    comment = redact(job.comment)
    return job if comment == job.comment else replace(job, comment=comment)


def _only(kept: frozenset[str], value: T, **stated: Any) -> T:
    """The same with these fields alone, others as stated; every other one has its default."""
    made: Any = value
    known = {one.name: getattr(made, one.name) for one in fields(made) if one.name in kept}
    return type(value)(**(known | stated))


def _without_source(origin: Origin) -> Origin:
    return replace(origin, by="", about="", note="", owner="", at=0.0)


def _tenths(share: float) -> float:
    """Rounded down: what is not suspect does not become so."""
    return math.floor(10 * share) / 10


def _day(at: float | None) -> float | None:
    return None if at is None else at - at % _DAY_S
