"""Settings: `SCHEDMATE_*` variables over the user's file over the site's file over defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import platformdirs

from schedmate.model import BadInput, Mode
from schedmate.model.priority import DEFAULT_ORDERING, NICE_HOURS
from schedmate.sections import (
    ABOVE_ZERO,
    FINITE_ABOVE_ZERO,
    Secret,
    WrongSettingError,
    above,
    at_least,
    meant,
    read_section,
    states_path,
)
from schedmate.site_settings import (
    DoomedSettings,
    DrainSettings,
    HostSettings,
    MailSettings,
    NotifySettings,
    PreemptionSettings,
    RetentionSettings,
    SharingSettings,
    TimeLimitSettings,
    WebhookSettings,
    WebSettings,
)
from schedmate.variables import (
    paths_by_variable,
    plain_or_json,
    spelling,
    unknown_among,
    variable_of,
)

SITE_FILE = Path("/etc/schedmate/config.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class HangSettings:
    minutes: float = above(0, 30.0)
    """Of silence before a running job may be taken for hung; `inf` is never."""
    partitions: dict[str, float] = field(default_factory=dict, metadata=ABOVE_ZERO)
    """Minutes for the jobs of some partitions, by their names."""
    requeue: bool = False
    """Queue jobs that seem to hang again, although some only wait; without it that takes what the
    kernel shows of their processes, or `schedmate=requeue-hung` in a job's comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    slots: int | None = above(0, None)
    """How many GPUs are handed out at most, the first ones; on a machine without GPUs how many jobs
    run at once, None: one a core."""
    gpus: tuple[str, ...] = ()
    """Which GPUs are handed out: `0`, `0-3`, `4:h100` to call its type so, a UUID; `none`. Empty:
    all that nvidia-smi lists."""
    lock_dir: str = ""
    """Where the accounts of the machine lock GPUs; empty: `/run/lock`, or another directory that
    is root's and open to all."""
    kill_wait_s: float = at_least(0, 5.0)
    poll_s: float = above(0, 2.0)
    """How often its daemon looks at what runs, though nothing was reported."""
    keep_days: float = at_least(1, 30.0)
    """How long what an ended job ran with is kept, so that it can be queued again."""
    keep_megabytes: float = at_least(1, 1000.0)
    """How large all of that may become; beyond it the oldest go earlier."""
    shared: bool | None = None
    """Whether jobs go to the queue that root serves for all accounts; None: where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmSettings:
    cluster: str = ""
    """Another cluster than this machine's own, by its name in the accounting; one a daemon."""
    rest_url: str = ""
    """Where slurmrestd listens: `https://host:6820` or `unix:///run/slurmrestd.sock`; empty: only
    Slurm's commands are used."""
    rest_token_file: Path | None = None
    """Its token, read again when it changes; None: this account's own, by `scontrol token`."""
    poll_s: float = above(0, 30.0)
    timeout_s: float = above(0, 30.0)
    history_days: int = above(0, 1)
    """How far back the accounting is asked for jobs that the controller has let go of."""
    updates_a_minute: int = above(0, 1200)
    """How many nice numbers are set in a minute."""
    scripts_a_look: int = above(0, 200)
    """How many scripts are asked for in one look; the rest follows in later looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitSettings:
    advice: Literal["auto", "always", "never"] = "auto"
    """Whether `submit` prints advice; `auto`: in place of sbatch only to a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSettings:
    socket: Path | None = None
    """Where sbatch asks the daemon; None: `advice.sock` in the state directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessSettings:
    """How far a job may be overtaken: all three."""

    late_hours: float = at_least(0, 12.0)
    """So late it may become by jobs that its scheduler alone puts behind it."""
    hours: float = at_least(0, 0.0)
    """It is overtaken for so long at least, or"""
    times: float = at_least(0, 0.0)
    """Times its own predicted run time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSettings:
    """Which jobs are left alone."""

    canary_partitions: tuple[str, ...] = ()
    """Act in these alone; none: in all."""
    exclude_users: tuple[str, ...] = ()
    exclude_partitions: tuple[str, ...] = ()
    exclude_accounts: tuple[str, ...] = ()
    exclude_qos: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldSettings:
    certain: bool = True
    """Hold a waiting job whose files show that it cannot succeed."""
    after_failures: int = at_least(0, 0)
    """Hold one whose same code has failed so often in a row; 0: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSettings:
    """A GPU that SchedMate does not know by its name."""

    tflops: float = field(metadata=FINITE_ABOVE_ZERO)
    """Dense, bf16 or fp16."""
    bandwidth_gbs: float | None = field(default=None, metadata=FINITE_ABOVE_ZERO)
    linked: bool = False
    """The GPUs of a node reach each other faster than over PCIe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    base_url: str | None = None
    """An OpenAI-compatible `/v1`; None means the embedded model where it is installed."""
    model: str = "default"
    api_key: Secret | None = None
    api_key_file: Path | None = None
    enabled: bool = True
    advice: bool = False
    """Whether it is asked about a job's code where reading leaves something open."""
    tier: Literal["auto", "none", "choose", "read"] = "auto"
    """How much a model is asked; `auto` goes by its exam, and without one it may only choose."""
    never: tuple[str, ...] = ()
    """Users, and directories by their absolute path, about whose jobs no model is asked."""
    deadline_s: float = above(0, 60.0)
    background_deadline_s: float = above(0, 300.0)
    """For questions that the daemon asks beside its loop."""
    read_deadline_s: float = above(0, 180.0)
    """For each question to a model that reads, where `deadline_s` is shorter."""
    token_budget: int = above(0, 1_000_000)
    """Tokens this installation may spend in a day."""
    read_token_budget: int = above(0, 20_000_000)
    """The same where the model reads."""
    repair_turns: int = at_least(0, 2)
    threads: int = above(0, 2)
    idle_s: float = above(0, 300.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    scheduler: Literal["local", "slurm"] = "local"
    mode: Mode = "observe"
    policy: str = DEFAULT_ORDERING
    nice_range: int | None = above(0, None)
    """The largest nice number; None chooses it by the scheduler's own weights."""
    nice_hours: float = above(0, NICE_HOURS)
    """The most that a job is set back, in hours of waiting."""
    nice_at_submission: int = at_least(0, 0)
    """What the submit hook adds to every job's nice number, until the daemon has ordered it."""
    actions_an_hour: int = above(0, 200)
    """How many jobs are requeued or held, and nodes drained, in an hour at most."""
    retries: int = at_least(0, 2)
    """In a row, without getting a job any further."""
    retries_in_all: int = at_least(0, 10)
    longest_wait_s: float = at_least(0, 3600.0)
    settle_s: float | None = at_least(0, None)
    """How long after a failure its owner may submit a job again before it is retried; None is a
    minute beside Slurm, and nothing in the local queue."""
    log_format: Literal["text", "json"] = "text"
    """Of the daemon's own log: a line for people, or a JSON object a line."""
    operators: tuple[str, ...] = ()
    """Users who see every job whole; only the site's file names them."""
    state_dir: Path = field(default_factory=lambda: platformdirs.user_state_path("schedmate"))
    cache_dir: Path = field(default_factory=lambda: platformdirs.user_cache_path("schedmate"))
    store_url: str = ""
    """A PostgreSQL database in place of the file in the state directory."""
    hang: HangSettings = HangSettings()
    hold: HoldSettings = HoldSettings()
    fairness: FairnessSettings = FairnessSettings()
    scope: ScopeSettings = ScopeSettings()
    drain: DrainSettings = field(default_factory=DrainSettings)
    doomed: DoomedSettings = field(default_factory=DoomedSettings)
    preemption: PreemptionSettings = field(default_factory=PreemptionSettings)
    sharing: SharingSettings = field(default_factory=SharingSettings)
    local: LocalSettings = LocalSettings()
    slurm: SlurmSettings = SlurmSettings()
    submit: SubmitSettings = SubmitSettings()
    hook: HookSettings = HookSettings()
    files_socket: Path = Path("/run/schedmate-files.sock")
    """Where the service listens that reads files as their owners."""
    queue_socket: Path = Path("/run/schedmate-queue.sock")
    """Where root serves a queue for all accounts of this machine."""
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    time_limits: TimeLimitSettings = field(default_factory=TimeLimitSettings)
    gpus: dict[str, str | GpuSettings] = field(default_factory=dict)
    """What the site's own names of GPUs (types of gres) stand for."""
    llm: LlmSettings = LlmSettings()
    web: WebSettings = field(default_factory=WebSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    mail: MailSettings = field(default_factory=MailSettings)
    webhooks: dict[str, WebhookSettings] = field(default_factory=dict)
    """Channels by name, beside `mail`."""
    hosts: dict[str, HostSettings] = field(default_factory=dict)
    """Other machines with a queue of their own, by name: `jobs` lists theirs too."""
    server: str = ""
    """The site's daemon, which verbs ask first: `unix:/path` or a URL."""
    token: Secret | None = None
    token_file: Path | None = None
    """What the daemon knows its user by, where it is on another machine."""

    @property
    def database(self) -> Path:
        return self.state_dir / "schedmate.sqlite3"

    @property
    def advice_socket(self) -> Path:
        """Where the daemon answers people who are about to submit."""
        return (self.hook.socket or self.state_dir / "advice.sock").absolute()

    @property
    def daemon_lock(self) -> Path:
        """Held while a daemon runs."""
        return self.state_dir / "serve.lock"


_NAMES = [one.name for one in fields(Settings)]


def user_file() -> Path:
    chosen = os.environ.get("SCHEDMATE_CONFIG")
    return Path(chosen) if chosen else platformdirs.user_config_path("schedmate") / "config.toml"


def _refuse_misspelt_variables() -> None:
    """Those that set nothing and are close to one that does."""
    unknown = unknown_among(_NAMES)
    if not unknown:
        return
    known = {spelling(name): name for name in (*_NAMES, *_names(asdict(Settings())))}
    for variable in unknown:
        near = get_close_matches(spelling(variable), known, n=1, cutoff=0.75)
        if near:
            raise BadInput(f"{variable} is no setting; is {variable_of(known[near[0]])} meant?")


def unknown_variables() -> list[str]:
    """A sentence for each `SCHEDMATE_*` variable that sets nothing and is not known otherwise."""
    known = [variable_of(name) for name in _names(asdict(Settings()))]
    return [
        f"{variable} is no setting and is ignored{meant(variable, known)}"
        for variable in unknown_among(_NAMES)
    ]


def _in_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise BadInput(f"the settings in {path} cannot be read: {error}") from error


def _in_environment() -> dict[str, Any]:
    """`SCHEDMATE_LLM__MODEL=x` is `{"llm": {"model": "x"}}`; tables and lists are JSON."""
    found: dict[str, Any] = {}
    for variable, (first, *rest) in paths_by_variable(_NAMES).items():
        stated = plain_or_json(os.environ[variable])
        for part in reversed(rest):
            stated = {part: stated}
        found = _over({first: stated}, found)
    return found


def _over(upper: dict[str, Any], lower: dict[str, Any]) -> dict[str, Any]:
    """Both together; where both say something, the upper one counts."""
    both = {**lower, **upper}
    for name in upper.keys() & lower.keys():
        if isinstance(upper[name], dict) and isinstance(lower[name], dict):
            both[name] = _over(upper[name], lower[name])
    return both


def changed(settings: Settings, changes: Sequence[str]) -> Settings:
    """These settings with some replaced, each written `name=value` or `section.name=value`."""
    values = asdict(settings)
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise BadInput(f"{change!r} is no setting: write NAME=VALUE, for example policy=ssf")
        *sections, last = name.strip().split(".")
        place: Any = values
        for section in sections:
            place = place.get(section) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            raise BadInput(f"there is no setting {name}{meant(name, _names(values))}")
        place[last] = plain_or_json(value.strip())
    try:
        return read_section(Settings, values)
    except WrongSettingError as error:
        raise BadInput(f"setting {error}") from error


def _names(values: Mapping[str, Any], within: str = "") -> list[str]:
    return [
        name
        for key, value in values.items()
        for name in (
            _names(value, f"{within}{key}.") if isinstance(value, dict) else [f"{within}{key}"]
        )
    ]


def load() -> Settings:
    """Read the settings, or say in one sentence which one is wrong."""
    _refuse_misspelt_variables()
    if "SCHEDMATE_CONFIG" in os.environ and not user_file().exists():
        raise BadInput(f"SCHEDMATE_CONFIG names {user_file()}, which is not there")
    if user_file().is_dir():
        raise BadInput(f"SCHEDMATE_CONFIG names {user_file()}, which is a directory")
    site, user = _in_file(SITE_FILE), _in_file(user_file())
    try:
        settings = read_section(Settings, _over(_in_environment(), _over(user, site)))
    except WrongSettingError as error:
        where = _origin(error.path, {user_file(): user, SITE_FILE: site})
        raise BadInput(f"{where}: {error.problem}") from error
    if settings.operators != tuple(site.get("operators", ())):
        raise BadInput(f"operators can be set in {SITE_FILE} only: they see every user's jobs")
    return settings


def scheduler_in_use() -> str | None:
    """As far as it can be read where another setting is wrong."""
    found = os.environ.get("SCHEDMATE_SCHEDULER")
    for file in (user_file(), SITE_FILE):
        with suppress(BadInput):
            found = found or _in_file(file).get("scheduler")
    return found


def _origin(path: tuple[str, ...], files: Mapping[Path, Mapping[str, Any]]) -> str:
    """What states the setting of this path: a variable, or a file in the order of precedence."""
    for variable, stated in paths_by_variable(_NAMES).items():
        if all(one == other for one, other in zip(stated, path, strict=False)):
            return variable
    name = ".".join(path)
    for file, values in files.items():
        if states_path(values, path):
            return f"setting {name} in {file}"
    return f"setting {name}"
