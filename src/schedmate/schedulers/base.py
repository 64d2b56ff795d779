"""The contract of a scheduler: one Protocol that every adapter fulfils and one test suite
(`schedmate.testing.scheduler_contract`) that every adapter passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from schedmate.model import Activity, GpuUse, Job, JobId, NodeState, Spread, Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What this account may do: to `everyone`'s jobs or to its own; `role` in words."""

    everyone: bool
    role: str
    administers: bool = False
    """Whether it may also change nodes."""


@runtime_checkable
class KnowsRights(Protocol):
    """A scheduler of several users, which lets some do more than others."""

    def rights(self) -> Rights:
        """Of the account that runs this process."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One right that was tried; `note` is the refusal, or why it could not be tried."""

    name: str
    allowed: bool
    note: str


@runtime_checkable
class TriesRights(Protocol):
    """A scheduler at which rights can be tried without changing anything."""

    def try_rights(self) -> list[Trial]:
        """`queue`, `accounting`, `scripts`, and each change that a mode needs: `nice`,
        `time limit`, `requeue`, `hold` of other users' jobs, and `drain`."""


@runtime_checkable
class WarnsRuns(Protocol):
    """A scheduler whose jobs may ask for a signal some time before they are ended."""

    def warning_s(self, job_id: JobId) -> float | None:
        """How long before its end a job asks for one; None where it asks for none."""

    def warn(self, job_id: JobId) -> None:
        """Send that signal to a running job now."""


@runtime_checkable
class MeasuresGpus(Protocol):
    """A scheduler that may know what a job's GPUs did."""

    def gpu_use(self, job: Job) -> GpuUse | None:
        """Of its last run, once it has ended; None where nothing was measured."""


@runtime_checkable
class MeasuresActivity(Protocol):
    """A scheduler that may know what the processes of a running job do."""

    def activity(self, jobs: Sequence[Job]) -> dict[JobId, Activity]:
        """Of these running jobs, with one batched question; what was not measured is left out."""


@runtime_checkable
class KnowsOpenFiles(Protocol):
    """A scheduler whose jobs run on this machine."""

    def written_files(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        """The files that processes of these running jobs have open for writing, without links."""


@dataclass(frozen=True, slots=True)
class AccountedRun:
    """A run as accounting remembers it. A state that is no end: the job was queued again."""

    job: Job
    submit_line: str = ""


@runtime_checkable
class KeepsHistory(Protocol):
    """A scheduler that remembers more runs than can be read at once."""

    def cluster(self) -> str:
        """Its name, so that what was read of one is not taken for another's."""

    def ended_between(
        self, start: float, end: float, user: str | None = None
    ) -> list[AccountedRun]:
        """Runs that ended in [start, end), of one user or of all, in the order of submission.

        `restarts` is unknown and 0.
        """

    def held_for_s(self) -> float:
        """How long after its end a job can still be queued again."""

    def stored_scripts(self, ids: Sequence[JobId]) -> dict[JobId, str]:
        """The scripts that outlived their jobs, with few questions; others are left out."""


@runtime_checkable
class ShowsAttempts(Protocol):
    """A scheduler that remembers each run of a job that it has queued again."""

    def earlier_attempts(self) -> list[Job]:
        """Of the jobs of the last look at all of them, the runs before their present ones.

        Each with its own nodes, times and state; a state that is no end: somebody ended it to
        queue it again.
        """


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a scheduler's own submit command ended, and the job's id where it printed one."""

    exit_code: int
    job_id: JobId | None


@runtime_checkable
class HasSubmitCommand(Protocol):
    """A scheduler whose users submit with a command of its own."""

    def run_submit_command(
        self,
        words: Sequence[str],
        *,
        stdin: bytes | None,
        on_output: Callable[[bytes], None],
        on_job: Callable[[JobId], None],
    ) -> CommandResult:
        """Run it with these words, in this directory and environment, until it ends.

        Its stderr is ours. `on_output` gets every line of its output as it comes, `on_job` the
        id. Without `stdin` it reads ours.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why a waiting job does not start, in words that follow its name, and what would help."""

    text: str
    remedy: str = ""


@runtime_checkable
class ExplainsWaiting(Protocol):
    """A scheduler that knows why a job waits."""

    def obstacle(self, job: Job) -> Obstacle | None:
        """Of a job that waits, or was cancelled as it waited; None for one that waits for its
        turn only."""


@runtime_checkable
class KnowsSubmitLines(Protocol):
    """A scheduler that remembers how jobs were submitted."""

    def submit_lines(self, ids: Sequence[JobId]) -> dict[JobId, str]:
        """The command lines; of jobs that it does not know them of none."""


@runtime_checkable
class MayOverwriteLogs(Protocol):
    """A scheduler at which a job that is queued again writes to the same log."""

    def appends_logs(self) -> bool:
        """Whether it goes on with it, unless its user wants it overwritten."""


@runtime_checkable
class OrdersInBulk(Protocol):
    """A scheduler that takes many nice numbers with few requests."""

    def set_nices(self, numbers: Mapping[JobId, int]) -> Mapping[JobId, str]:
        """Ask for as many as a budget allows now, in this order.

        Returns those that were asked for, each with what the scheduler objected, if anything:
        what came of it has to be read back. The others are for later.
        """


@runtime_checkable
class PlansApart(Protocol):
    """A scheduler that may plan with another time than the limit that ends a job."""

    def set_time_min(self, job_id: JobId, seconds: float | None) -> None:
        """What to plan with, None for the limit; refused where it would change the limit."""


@dataclass(frozen=True, slots=True)
class LentGpus:
    """GPUs that are lent in parts: in how many each, and which kinds of GPUs these are."""

    shards: int
    types: frozenset[str]


@runtime_checkable
class SharesGpus(Protocol):
    """A scheduler that may lend GPUs in parts, so that several jobs run on one."""

    def lent_gpus(self) -> LentGpus | None:
        """None where it lends none, or not all in as many parts."""

    def set_shards(self, job_id: JobId, shards: int) -> None:
        """How many parts of a GPU a waiting job asks for; refused where it asks for whole ones."""

    def shared_gpus(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        """On which GPUs these running jobs with parts of some are, by names that mean nothing
        else; unknown ones are left out."""


@runtime_checkable
class RenewsDependencies(Protocol):
    """A scheduler whose jobs wait for others, and which does not forget that one has failed."""

    def set_dependency(self, job_id: JobId, dependency: str) -> None:
        """What a waiting job waits for, in the scheduler's own syntax, judged from now on."""


@runtime_checkable
class TakesPredictions(Protocol):
    """A scheduler that plans with how long jobs are predicted to run."""

    def set_predictions(self, predictions: Mapping[JobId, Spread]) -> None:
        """Of jobs that have not ended; an array's are those of all its tasks."""


@runtime_checkable
class MovesToTop(Protocol):
    """A scheduler at which a user can put one of the own waiting jobs before the others."""

    def move_to_top(self, job_id: JobId) -> None:
        """`SchedulerError` where it does not wait."""


@runtime_checkable
class ListsTasks(Protocol):
    """A scheduler that can name the tasks of an array one by one."""

    def waiting_tasks(self, job_id: JobId) -> list[JobId]:
        """Of an array, those that wait."""


@runtime_checkable
class ExcludesNodes(Protocol):
    """A scheduler of several nodes, some of which a job can be kept from."""

    def set_excluded(self, job_id: JobId, nodes: Sequence[str]) -> None:
        """All nodes that a waiting job is kept from, instead of those until now."""


@runtime_checkable
class ReportsTrouble(Protocol):
    """A scheduler that may work with less than it should know."""

    def trouble(self) -> str:
        """What is amiss, and what would help; empty where nothing is."""


@runtime_checkable
class GivesGpusAsNodes(Protocol):
    """A scheduler of one machine, each GPU of which is a node to it."""

    def needed_nodes(self, job: Job) -> int:
        """How many of them the job takes."""


@runtime_checkable
class DrainsNodes(Protocol):
    """A scheduler that takes nodes out for those who administer it."""

    def drain(self, node: str, reason: str) -> None:
        """Give it no more jobs; refused where it is not up: others' reasons stay as they are."""

    def resume(self, node: str, reason: str) -> None:
        """Take it back in; refused unless it is drained for exactly this reason."""


class Scheduler(Protocol):
    """Where jobs really run.

    Every call may raise `SchedulerUnreachable`; calls about one job raise `NotFound` when the
    scheduler does not know it and `SchedulerError` when it refuses.
    """

    @property
    def name(self) -> str:
        """The word for it in settings and messages: `local`, `slurm`."""

    def submit(self, submission: Submission) -> JobId:
        """Queue a job; once this returned, the job is never lost and never run twice."""

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        """Every job the scheduler still knows, ended ones included, or those with these ids.

        One batched question, however many jobs there are. Unknown ids are left out; where some
        of them cannot be looked up now, `PartlyKnown` is raised.
        """

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        """All nodes, or those with these names, with one batched question.

        Unknown names are left out.
        """

    def script(self, job_id: JobId) -> str | None:
        """The text of the script the job runs; None where it has none, or none that we may see."""

    def cancel(self, job_id: JobId) -> None:
        """End it as CANCELLED. Nothing happens to a job that has ended."""

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int,
        exclude_nodes: Sequence[str] = (),
        delay_s: float = 0.0,
        held: bool = False,
    ) -> bool:
        """Queue a running or ended job again under its id, its restart count one higher.

        `held`: from the first moment on it waits until it is released, as with `hold`.
        True once it waits again with all of this; False while the old run is still being stopped:
        ask again later, in the same words. Asked again while it waits, by whomever and after
        whatever crash, it does what is still missing and nothing twice. `run` is the restart
        count of the run that is meant: a job that has gone on since is refused.
        """

    def may_run_on(self, job: Job, node: NodeState) -> bool:
        """Whether what the job itself asks for allows this node, be it up or not."""

    def hold(self, job_id: JobId) -> None:
        """Keep a pending job from starting until it is released, which its owner may do too.

        A job that has started meanwhile is left alone: `SchedulerError`.
        """

    def release(self, job_id: JobId) -> None:
        """Let a held job start again. Nothing happens to one that is not held."""

    def set_nice(self, job_id: JobId, nice: int) -> None:
        """Order a pending job: those with a smaller number start first.

        A scheduler may ignore it in silence: read it back.
        """

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        """Change the limit of a pending or running job; None takes it away."""
