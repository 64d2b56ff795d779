"""Settings: `SCHEDMATE_*` variables over the user's file over the site's file over defaults."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    SecretStr,
    ValidationError,
    field_validator,
)

from schedmate.model import BadInput, Mode
from schedmate.model.priority import DEFAULT_ORDERING

SITE_FILE = Path("/etc/schedmate/config.toml")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HangSettings(_Section):
    minutes: float = Field(30.0, gt=0)
    """Of silence before a running job may be taken for hung; `inf` is never."""
    partitions: dict[str, float] = Field({})
    """Minutes for the jobs of some partitions, by their names."""

    @field_validator("partitions")
    @classmethod
    def _positive(cls, minutes: dict[str, float]) -> dict[str, float]:
        for name, value in minutes.items():
            if not value > 0:
                raise ValueError(f"the minutes of {name} must be more than 0")
        return minutes


class LocalSettings(_Section):
    slots: PositiveInt | None = None
    """How many GPUs the local scheduler hands out; None counts nvidia-smi's, else the cores."""
    kill_wait_s: float = Field(5.0, ge=0)
    poll_s: float = Field(0.2, gt=0)


class SlurmSettings(_Section):
    poll_s: float = Field(30.0, gt=0)
    timeout_s: float = Field(30.0, gt=0)
    history_days: PositiveInt = 1
    """How far back the accounting is asked for jobs that the controller has let go of."""


class TimeLimitSettings(_Section):
    lower: bool = False
    """Lower the limits of waiting jobs towards their prediction, so that backfill finds holes."""


class HoldSettings(_Section):
    certain: bool = True
    """Hold a waiting job whose files show that it cannot succeed."""
    after_failures: int = Field(0, ge=0)
    """Hold one whose same code has failed so often in a row; 0: never."""


class GpuSettings(_Section):
    """A GPU that SchedMate does not know by its name."""

    tflops: float = Field(gt=0, allow_inf_nan=False)
    """Dense, bf16 or fp16."""
    bandwidth_gbs: float | None = Field(None, gt=0, allow_inf_nan=False)
    linked: bool = False
    """The GPUs of a node reach each other faster than over PCIe."""


class LlmSettings(_Section):
    base_url: str | None = None
    """An OpenAI-compatible `/v1`; None means the embedded model where it is installed."""
    model: str = "default"
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    enabled: bool = True
    advice: bool = False
    """Whether it is asked about a job's code where reading leaves something open."""
    deadline_s: float = Field(60.0, gt=0)
    token_budget: PositiveInt = 1_000_000
    """Tokens this installation may spend in a day."""
    repair_turns: int = Field(2, ge=0)
    threads: PositiveInt = 2
    idle_s: float = Field(300.0, gt=0)


def _gpu(name: str, meant: Any) -> str | GpuSettings:
    if isinstance(meant, str | GpuSettings):
        return meant
    if not isinstance(meant, dict):
        text = f"{name} must be an accelerator's name or {{ tflops = 312 }}"
        raise ValueError(text)  # noqa: TRY004 - pydantic expects it
    try:
        return GpuSettings.model_validate(meant)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{name}.{where}: {first['msg']}") from error


class Settings(_Section):
    scheduler: Literal["local", "slurm"] = "local"
    mode: Mode = "observe"
    policy: str = DEFAULT_ORDERING
    nice_range: PositiveInt | None = None
    """The largest nice number; None chooses it by the scheduler's own weights."""
    retries: int = Field(2, ge=0)
    """In a row, without getting a job any further."""
    retries_in_all: int = Field(10, ge=0)
    longest_wait_s: float = Field(3600.0, ge=0)
    operators: tuple[str, ...] = ()
    """Users who see every job whole; only the site's file names them."""
    state_dir: Path = Field(default_factory=lambda: platformdirs.user_state_path("schedmate"))
    cache_dir: Path = Field(default_factory=lambda: platformdirs.user_cache_path("schedmate"))
    hang: HangSettings = HangSettings()
    hold: HoldSettings = HoldSettings()
    local: LocalSettings = LocalSettings()
    slurm: SlurmSettings = SlurmSettings()
    time_limits: TimeLimitSettings = TimeLimitSettings()
    gpus: dict[str, str | GpuSettings] = Field({})
    """What the site's own names of GPUs (types of gres) stand for."""
    llm: LlmSettings = LlmSettings()

    @field_validator("gpus", mode="before")
    @classmethod
    def _accelerators_or_figures(cls, gpus: Any) -> Any:
        if not isinstance(gpus, dict):
            return gpus
        return {name: _gpu(name, meant) for name, meant in gpus.items()}

    @property
    def database(self) -> Path:
        return self.state_dir / "schedmate.sqlite3"

    @property
    def daemon_lock(self) -> Path:
        """Held while a daemon runs."""
        return self.state_dir / "serve.lock"


def user_file() -> Path:
    chosen = os.environ.get("SCHEDMATE_CONFIG")
    return Path(chosen) if chosen else platformdirs.user_config_path("schedmate") / "config.toml"


def _refuse_misspelt_variables() -> None:
    for variable in os.environ:
        name = variable.removeprefix("SCHEDMATE_").partition("__")[0].lower()
        if variable.startswith("SCHEDMATE_") and name not in Settings.model_fields:
            meant = get_close_matches(name, Settings.model_fields, n=1, cutoff=0.75)
            if meant:
                raise BadInput(f"{variable} is no setting; is SCHEDMATE_{meant[0].upper()} meant?")


def _in_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise BadInput(f"the settings in {path} cannot be read: {error}") from error


def _in_environment() -> dict[str, Any]:
    """`SCHEDMATE_LLM__MODEL=x` is `{"llm": {"model": "x"}}`; tables and lists are JSON."""
    found: dict[str, Any] = {}
    for variable, (first, *rest) in _variables().items():
        stated = _plain_or_json(os.environ[variable])
        for part in reversed(rest):
            stated = {part: stated}
        found = _over({first: stated}, found)
    return found


def _variables() -> dict[str, list[str]]:
    """The variables that are settings, each with the path that it sets."""
    split = {name: name.lower().partition("_") for name in os.environ}
    paths = {
        name: rest.split("__") for name, (head, _, rest) in split.items() if head == "schedmate"
    }
    return {name: path for name, path in paths.items() if path[0] in Settings.model_fields}


def _plain_or_json(value: str) -> Any:
    try:
        return json.loads(value) if value.startswith(("{", "[")) else value
    except ValueError:
        return value


def _over(upper: dict[str, Any], lower: dict[str, Any]) -> dict[str, Any]:
    """Both together; where both say something, the upper one counts."""
    both = {**lower, **upper}
    for name in upper.keys() & lower.keys():
        if isinstance(upper[name], dict) and isinstance(lower[name], dict):
            both[name] = _over(upper[name], lower[name])
    return both


def changed(settings: Settings, changes: Sequence[str]) -> Settings:
    """These settings with some replaced, each written `name=value` or `section.name=value`."""
    values = settings.model_dump()
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise BadInput(f"{change!r} is no setting: write NAME=VALUE, for example policy=ssf")
        *sections, last = name.strip().split(".")
        place: Any = values
        for section in sections:
            place = place.get(section) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            meant = get_close_matches(name, _names(values), n=1, cutoff=0.5)
            hint = f"; is {meant[0]} meant?" if meant else ""
            raise BadInput(f"there is no setting {name}{hint}")
        place[last] = _plain_or_json(value.strip())
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"setting {where}: {first['msg']}") from error


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
    site, user = _in_file(SITE_FILE), _in_file(user_file())
    try:
        settings = Settings.model_validate(_over(_in_environment(), _over(user, site)))
    except ValidationError as error:
        first = error.errors()[0]
        where = _origin(tuple(map(str, first["loc"])), {user_file(): user, SITE_FILE: site})
        raise BadInput(f"{where}: {first['msg']}") from error
    if settings.operators != tuple(site.get("operators", ())):
        raise BadInput(f"operators can be set in {SITE_FILE} only: they see every user's jobs")
    return settings


def _origin(path: tuple[str, ...], files: Mapping[Path, Mapping[str, Any]]) -> str:
    """What states the setting of this path: a variable, or a file in the order of precedence."""
    for variable, stated in _variables().items():
        if all(one == other for one, other in zip(stated, path, strict=False)):
            return variable
    name = ".".join(path)
    for file, values in files.items():
        if _states(values, path):
            return f"setting {name} in {file}"
    return f"setting {name}"


def _states(values: Any, path: tuple[str, ...]) -> bool:
    """Whether all of the path is there, or a value that is no table in the place of its rest."""
    for part in path:
        if not isinstance(values, dict):
            return True
        if part not in values:
            return False
        values = values[part]
    return True
