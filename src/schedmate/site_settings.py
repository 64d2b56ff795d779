"""Settings of what a daemon offers to others: its pages and API, and notifications."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schedmate.sections import Secret, above, at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    host: str = "127.0.0.1"
    """Where it listens; beyond loopback only with tokens or a trusted proxy."""
    socket: Path | None = None
    """A unix socket for the users of this machine, whom the kernel names."""
    names: tuple[str, ...] = ()
    """By which names it is called, beside those of loopback."""
    certificate: Path | None = None
    key: Path | None = None
    """For https, in PEM."""
    proxy_header: str = ""
    """The header in which a trusted proxy names the user; empty: none is trusted."""
    proxies: tuple[str, ...] = ()
    """Addresses of such proxies on other machines."""
    proxy_accounts: tuple[str, ...] = ()
    """Accounts that such proxies run under on this machine."""
    requests_a_second: float = above(0, 100.0)
    """Of one user; ten times as many at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    host: str = ""
    """The mail server; empty: no mail is sent."""
    port: int = above(0, 25)
    security: Literal["none", "starttls", "tls"] = "none"
    user: str = ""
    password: Secret | None = None
    password_file: Path | None = None
    sender: str = "schedmate@localhost"
    domain: str = ""
    """Behind a user's name, where the user has named no address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    url: Secret
    """Where to; it is part of the secret with Slack and its like."""
    kind: Literal["json", "slack"] = "json"
    private: bool = False
    """Whether it may be an address of the site's own network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """Another machine with a queue of its own."""

    address: str = ""
    """What ssh calls it; empty: its name here, as in ~/.ssh/config."""
    program: str = "schedmate"
    """A full path where ssh does not find it by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    wait_s: float = at_least(0, 60.0)
    """How long a notice waits for others of the same user, to be sent as one."""
    messages_an_hour: int = above(0, 12)
    """To one user; what is more waits and is sent together."""
    link: str = ""
    """The address of the pages, for links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionSettings:
    """Whose runs are stopped right after a checkpoint for shorter jobs, in mode `act`."""

    partitions: tuple[str, ...] = ()
    """Of all jobs that are submitted there; elsewhere a job has to say so in its comment."""
    qos: tuple[str, ...] = ()
    at_most: int = at_least(0, 3)
    """How often one job is stopped; 0: none ever is."""
    after_minutes: float = at_least(0, 30.0)
    """A run is not stopped before."""
    ends_soon_minutes: float = at_least(0, 30.0)
    """Nor with less than that left to it."""
    lost_gpu_hours: float = at_least(0, 24.0)
    """What restarts may cost one user in a day."""
    give_back_minutes: float = at_least(0, 10.0)
    """Where the jobs that it made way for have not started by then, it goes first."""
    widest: float = at_least(0, 0.25)
    """The share of its partition's GPUs that a run may hold: more are hard to gather again."""
    worth: float = above(0, 3.0)
    """So many times less GPU time than the run a job must need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingSettings:
    """Whose jobs share a GPU with another one, in mode `act`, where the scheduler lends GPUs in
    parts."""

    partitions: tuple[str, ...] = ()
    """Of all jobs that are submitted there; elsewhere a job has to say so in its comment."""
    qos: tuple[str, ...] = ()
    memory: float = above(0, 0.45)
    """The share of a GPU's memory that runs of its code were measured to need at most, ..."""
    utilization: float = above(0, 0.5)
    """... and the share of the time that they used it."""
    least_pace: float = at_least(0, 0.7)
    """Of its pace alone: below it two jobs are parted."""
    begin_anew_minutes: float = at_least(0, 0.0)
    """For so long the younger one is queued again at once for that, and begins anew; 0: only at a
    checkpoint from which it is proven to go on."""
    shards_at_submission: int = at_least(0, 0)
    """What the submit hook lets such jobs ask for in place of one GPU: all its parts; 0: nothing
    else than they do."""
    gpu_memory_gb: float | None = None
    """What a GPU has that is lent in parts, where its name does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimitSettings:
    lower: bool = False
    """Lower the limits of waiting jobs towards their prediction, so that backfill finds holes."""
    soft: bool = False
    """Where Slurm has `time_min_as_soft_limit`: let backfill plan with the prediction."""
    extend_hours: float = at_least(0, 0.0)
    """By how much the limit of a running job that resumes may be raised where it will not make it
    and no other job waits for its GPUs; 0: never."""
    carry_on: int = at_least(0, 0)
    """How often such a job is queued again right after its last checkpoint before the limit, to go
    on from there; 0: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoomedSettings:
    """Runs that go on for nothing."""

    stop: tuple[Literal["nan", "checkpoint", "hang", "limit", "idle"], ...] = ()
    """For which reasons they are stopped in mode `act`; for others only where their owner asks."""
    minutes: float = at_least(0, 10.0)
    """How long after the message, where the same sign still stands."""
    idle_hours: float = above(0, 1.0)
    """Without use of a GPU, CPU or output, after which an allocation is idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainSettings:
    allowed: bool = False
    """Drain suspect nodes in mode `act`, by an account with administrator rights."""
    probability: float = above(0, 0.9)
    most_out: float = at_least(0, 0.1)
    """The share of nodes that may be out, for whatever reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    days: float = at_least(7, 180.0)
    """How long events, decisions and what was found out about ended jobs are kept."""
    megabytes: float = at_least(10, 2000.0)
    """How large the store may become; beyond that the oldest go earlier."""
