"""Runs one attempt of one job and writes down how it ended.

    python shepherd.py ATTEMPT_DIR

A process of its own, so that the job and the record of its end survive the scheduler. It
uses nothing but the standard library and is started by path: every job pays for its start.
The claim is the one place that makes a run happen at most once: the first process to link it runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_LEFTOVERS_S = 2.0
_UNKILLABLE_S = 10.0
_CANNOT_RUN, _NOT_FOUND = 126, 127


def main(attempt: Path) -> None:
    if not _claim(attempt):
        return
    # a signal for the job's whole session must not take its record along
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    code, signum, reason = _run(json.loads((attempt / "spec.json").read_text("utf-8")))
    end = {"code": code, "signal": signum, "reason": reason, "end": time.time()}
    _end_leftovers()
    _write(attempt / "exit.json", end)


def _claim(attempt: Path) -> bool:
    mine = attempt / f"claim.{os.getpid()}"
    _write(mine, {"pid": os.getpid(), "born": _born(os.getpid()), "boot": _boot()})
    try:
        os.link(mine, attempt / "claim")
    except FileExistsError:
        return False
    finally:
        mine.unlink()
    return True


def _run(spec: dict[str, Any]) -> tuple[int, int, str]:
    """Return exit code, signal and, where it could not even start, why."""
    try:
        out = _open_log(spec["stdout"])
        err = out if spec["stderr"] == spec["stdout"] else _open_log(spec["stderr"])
    except OSError as error:
        return 1, 0, f"cannot write {error.filename}: {error.strerror}"
    try:
        child = subprocess.Popen(
            spec["command"],
            cwd=spec["workdir"],
            env=spec["env"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            process_group=0,
            restore_signals=True,
            preexec_fn=_default_signals,  # noqa: PLW1509 - this process has no threads
        )
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and Path(spec["workdir"]).is_dir()
        what = "command not found" if missing else (error.strerror or str(error))
        os.write(err, f"schedmate: {error.filename}: {what}\n".encode())
        return (_NOT_FOUND if missing else _CANNOT_RUN), 0, f"{error.filename}: {what}"
    status = child.wait()
    return (0, -status, "") if status < 0 else (status, 0, "")


def _open_log(path: str) -> int:
    """A pipe without a reader is an error, and not waited for."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC | os.O_NOCTTY
    log = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(log, True)
    return log


def _default_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _end_leftovers() -> None:
    """What the job left behind in the background ends with it; as subreaper we inherit it."""
    begun = time.monotonic()
    while _reap() and (waited := time.monotonic() - begun) < _UNKILLABLE_S:
        number = signal.SIGTERM if waited < _LEFTOVERS_S else signal.SIGKILL
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
        time.sleep(0.1)


def _reap() -> bool:
    """Collect the dead; True while a process lives."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii")
    return [int(pid) for pid in listed.split()]


def _born(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    return int(stat.rpartition(")")[2].split()[19])


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def _write(path: Path, value: dict[str, Any]) -> None:
    """Whole or not at all, and on the disk before anybody relies on it."""
    draft = path.with_name(path.name + ".draft")
    private = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(private, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
