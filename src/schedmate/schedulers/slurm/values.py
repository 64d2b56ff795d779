"""Slurm's words for states, times, sizes, hosts and exit codes, as values."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATES = {
    "BOOT_FAIL": JobState.NODE_FAIL,
    "LAUNCH_FAILED": JobState.NODE_FAIL,
    "RECONFIG_FAIL": JobState.NODE_FAIL,
    "DEADLINE": JobState.TIMEOUT,
    "REVOKED": JobState.CANCELLED,
    # its nodes are being prepared; nothing of it runs yet
    "CONFIGURING": JobState.PENDING,
    "REQUEUED": JobState.PENDING,
    "REQUEUE_FED": JobState.PENDING,
    "REQUEUE_HOLD": JobState.PENDING,
    "RESV_DEL_HOLD": JobState.PENDING,
    "SPECIAL_EXIT": JobState.PENDING,
} | {state.value: state for state in JobState}

_MOST_HOSTS = 65536
_HOSTS = re.compile(r"\[([^\]]*)\]|([^\[\]]+)")
_FIRST_SIGNAL_CODE, _LAST_SIGNAL_CODE = 129, 192
_MB = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}


def state(word: str) -> JobState:
    """`CANCELLED by 0` too. Whatever holds its nodes runs: COMPLETING, SUSPENDED, and any
    state that is not invented yet, because nothing is ever done to a job for running.
    """
    first = word.split(maxsplit=1)[0].rstrip("+") if word.strip() else ""
    return _STATES.get(first, JobState.RUNNING)


def epoch(text: str) -> float | None:
    return float(text) if text.isdecimal() and int(text) > 0 else None


def limit_s(text: str) -> float | None:
    """`D-HH:MM:SS` and its shorter forms; None for UNLIMITED and what is not set."""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(?:(\d+):)?(\d+)", text.strip())
    if found is None:
        return None
    days, first, second, last = (int(part or 0) for part in found.groups())
    if found[1] is not None and found[2] is None:  # D-HH
        return float(days * 86400 + last * 3600)
    if found[1] is not None and found[3] is None:  # D-HH:MM
        return float(days * 86400 + first * 3600 + last * 60)
    if found[3] is None:  # MM:SS
        return float(first * 60 + last)
    return float(days * 86400 + first * 3600 + second * 60 + last)


def time_text(seconds: float) -> str:
    """Slurm's way to write a time: `1-02:00:00`, `00:30:00`."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    clock = f"{hour:02}:{minute:02}:{second:02}"
    return f"{days}-{clock}" if days else clock


def shown_fields(line: str) -> dict[str, str]:
    """`Name=value` pairs of a line of `scontrol -o show`; the first of a name counts."""
    return dict(reversed(re.findall(r"(?:^| )([A-Za-z]\w*)=(\S*)", line)))


def ending(wait_status: str) -> tuple[int | None, int | None]:
    """squeue's exit code is that of wait(2), in new versions `code:signal` as sacct's."""
    if not wait_status.isdecimal():
        return accounted_ending(wait_status)
    code = os.waitstatus_to_exitcode(int(wait_status))
    return (0, -code) if code < 0 else with_signal(code, None)


def accounted_ending(text: str) -> tuple[int | None, int | None]:
    """sacct's `code:signal`."""
    code, _, signal = text.partition(":")
    if not (code.isdecimal() and signal.isdecimal()):
        return None, None
    return with_signal(int(code), int(signal) or None)


def with_signal(code: int, signal: int | None) -> tuple[int, int | None]:
    """A shell whose child was killed exits with 128 + signal."""
    if signal is None and _FIRST_SIGNAL_CODE <= code <= _LAST_SIGNAL_CODE:
        return code, code - 128
    return code, signal


def tres(text: str) -> dict[str, str]:
    """`cpu=1,mem=2G,gres/gpu:a100=2` as a mapping."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def gpus(resources: dict[str, str]) -> int:
    """The untyped count where there is one, else the typed ones together."""
    plain = resources.get("gres/gpu")
    if plain is not None:
        return _count(plain)
    return sum(_count(n) for name, n in resources.items() if name.startswith("gres/gpu:"))


def gpu_type(resources: dict[str, str]) -> str | None:
    """`a100` where `gres/gpu:a100` is all there is; None for a mixture."""
    return _only(name.partition(":")[2] for name in resources if name.startswith("gres/gpu:"))


def requested_gpu_type(text: str) -> str | None:
    """`a100` of `gres:gpu:a100:2`; a count is no type."""
    found = re.findall(r"\bgpu:([^:,=()]+)", text)
    return _only(each for each in found if not each.isdecimal())


def _only(names: Iterable[str]) -> str | None:
    different = set(names)
    return different.pop() if len(different) == 1 else None


def requested_gpus(text: str) -> int:
    """`gres:gpu:a100:2` (or `gres/gpu:2`) in a list of what each node or the job asks for."""
    found = re.findall(r"\bgpu(?::[^:,=]+)??(?:[:=](\d+))?(?=,|\(|$)", text)
    return sum(int(count or 1) for count in found)


def megabytes(text: str) -> int | None:
    found = re.match(r"([\d.]+)([KMGTP]?)", text)
    return round(float(found[1]) * _MB[found[2] or "M"]) if found else None


def _count(text: str) -> int:
    return int(text) if text.isdecimal() else 0


@lru_cache(maxsize=10_000)
def expand(hostlist: str) -> tuple[str, ...]:
    """Many host names as Slurm shortens them: `gpu[01-03,7]` is gpu01, gpu02, gpu03, gpu7."""
    return tuple(
        host for item in _outside_brackets(hostlist) for host in _expand_one(item.strip()) if host
    )


def _outside_brackets(text: str) -> list[str]:
    return re.split(r",(?![^\[]*\])", text)


def _expand_one(item: str) -> list[str]:
    choices = [
        _host_numbers(ranges) if ranges else [plain] for ranges, plain in _HOSTS.findall(item)
    ]
    return ["".join(parts) for parts in product(*choices)]


def _host_numbers(ranges: str) -> list[str]:
    found: list[str] = []
    for piece in ranges.split(","):
        first, _, last = piece.partition("-")
        if not (first.isdecimal() and last.isdecimal()):
            found.append(piece)
            continue
        count = min(int(last) - int(first) + 1, _MOST_HOSTS)
        found += [str(int(first) + step).zfill(len(first)) for step in range(count)]
    return found


def stated(text: str) -> str:
    return "" if text in ("(null)", "N/A") else text


def number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
