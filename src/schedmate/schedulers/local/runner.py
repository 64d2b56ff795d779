"""Runs one attempt of one job and writes down how it ended.

A process of its own, so that the job and the record of its end survive the scheduler. Every job
pays for its start: it imports little of the standard library and nothing else, no JSON, no paths.
The claim is the one place that makes a run happen at most once: the first process to link it runs.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import marshal
import os
import signal
import stat
import time
import warnings  # noqa: F401 - os.execvpe would import it, as an owner who may not read it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_LEFTOVERS_S = 2.0
_UNKILLABLE_S = 10.0
_CANNOT_RUN, _NOT_FOUND = 126, 127
_WRITE_AGAIN_S, _WRITE_FOR_S = 1.0, 7 * 86400.0
"""A disk that is full or away may come back, and the end of a long run is worth waiting for."""
_OURS_TO_IGNORE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)
"""What this process or Python ignores, and a job does not."""


def main(folder: str) -> None:
    os.chdir(folder)  # where it is thrown away and made anew, this run is none of the new one's
    if not _claim():
        return
    # a signal for the job's whole session must not take its record along
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with open("spec", "rb") as file:
        spec = marshal.load(file)  # noqa: S302 - our daemon wrote it, in a private directory
    locks, refused = _lock_gpus(spec.get("locks", ()))
    refused = refused or _gpu_user(spec.get("gpu_check"))
    if refused:
        end = {"code": 0, "signal": 0, "reason": refused, "end": time.time(), "refused": True}
        _insist_on_writing("exit.json", end)
        _wake(spec)
        return
    memory = _memory_bound(folder, spec)
    code, signum, reason = _run(spec, memory)
    end = {"code": code, "signal": signum, "reason": reason, "end": time.time()}
    if memory is not None and memory.was_exceeded():
        reason = f"it exceeded its memory limit of {spec['memory_mb']} MB"
        end |= {"out_of_memory": True, "reason": reason}
    _end_leftovers()
    if memory is not None:
        memory.close()
    for lock in locks:  # before the daemon hands them out again
        os.close(lock)
    _insist_on_writing("exit.json", end)
    _wake(spec)


def _claim() -> bool:
    mine = f"claim.{os.getpid()}"
    _write(mine, {"pid": os.getpid(), "born": _born(os.getpid()), "boot": _boot()})
    try:
        os.link(mine, "claim")
    except FileExistsError:
        return False
    finally:
        os.unlink(mine)
    return True


def _lock_gpus(paths: list[str]) -> tuple[list[int], str]:
    """Hold all of them until this process ends; where that cannot be, none, and why."""
    held: list[int] = []
    for path in paths:
        try:
            held.append(_open_lock(path))
            fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(held[-1]).st_ino != os.lstat(path).st_ino:
                raise FileNotFoundError(errno.ENOENT, "it was replaced", path)
        except OSError as error:
            for lock in held:
                os.close(lock)
            taken = error.errno == errno.EWOULDBLOCK
            return [], f"{path} {'is locked by another' if taken else f'cannot be locked: {error}'}"
    return held, ""


def _open_lock(path: str) -> int:
    """Any account may have made it. Without O_CREAT where it is there: in a directory for all the
    kernel refuses that for others' files."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        lock = os.open(path, flags)
    except FileNotFoundError:
        try:
            lock = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
            os.fchmod(lock, 0o644)  # whatever the umask says
        except FileExistsError:
            lock = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(lock).st_mode):
        os.close(lock)
        raise OSError(errno.EINVAL, "it is no plain file", path)
    return lock


def _gpu_user(check: dict[str, Any] | None) -> str:
    """Who has come to its GPUs since they were chosen; loaded only where that may be."""
    if check is None:
        return ""
    from gpu_check import find_user  # type: ignore[import-not-found]

    return str(find_user(check["command"], check["uuids"], check["least_mb"]))


def _memory_bound(folder: str, spec: dict[str, Any]) -> Any:
    """None where it may take what it wants. Loaded only where it is needed."""
    megabytes = spec.get("memory_mb")
    if megabytes is None:
        return None
    from memory_bound import MemoryBound  # type: ignore[import-not-found]

    name = f"schedmate-{'-'.join(folder.split('/')[-2:])}-{os.getpid()}"
    bound = MemoryBound(megabytes, name)
    spec["command"] = bound.prepare(spec["command"])
    return bound


def _run(spec: dict[str, Any], memory: Any) -> tuple[int, int, str]:
    """Return exit code, signal and, where it could not even start, why."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    reports, report = os.pipe()  # closed by the command's start
    child = os.fork()
    if child == 0:
        try:
            code, why = _become_job(spec, memory)
            os.write(report, marshal.dumps((code, why)))
        finally:
            os._exit(1)
    os.close(report)
    with os.fdopen(reports, "rb") as pipe:
        failed = pipe.read()
    status = _wait(child, memory)
    if failed:
        code, why = marshal.loads(failed)  # noqa: S302 - our own child's
        return code, 0, why
    return (0, -status, "") if status < 0 else (status, 0, "")


def _wait(child: int, memory: Any) -> int:
    """Its exit code, or its signal below 0."""
    options = 0 if memory is None or not memory.is_watched else os.WNOHANG
    while True:
        pid, status = os.waitpid(child, options)
        if pid:
            return os.waitstatus_to_exitcode(status)
        memory.look(os.getpid())
        signal.sigtimedwait((signal.SIGCHLD,), memory.look_every_s)


def _become_job(spec: dict[str, Any], memory: Any) -> tuple[int, str]:
    """Begin the command in this process; where it cannot begin, its exit code and why.

    The owner's rights come first: no file is opened and no directory entered by others.
    """
    os.setpgid(0, 0)
    for number in _OURS_TO_IGNORE:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGCHLD,))
    if spec.get("cores"):
        try:
            os.sched_setaffinity(0, spec["cores"])
        except OSError:  # cores that have been taken from the machine
            pass
    try:
        if memory is not None:
            memory.enter()
        _become(spec.get("owner"))
        anew = 0 if spec.get("append") else os.O_TRUNC
        out = _open_log(spec["stdout"], anew)
        err = out if spec["stderr"] == spec["stdout"] else _open_log(spec["stderr"], anew)
    except OSError as error:
        what = error.strerror or str(error)
        return 1, f"cannot write {error.filename}: {what}" if error.filename else what
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
        os.dup2(file, stream)
    command, name = spec["command"], spec["workdir"]
    try:
        os.chdir(name)
        name = command[0]
        os.execvpe(name, command, spec["env"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and name == command[0]
        what = "command not found" if missing else (error.strerror or str(error))
        if missing and os.path.exists(name):
            what = "the interpreter that its first line names is not there"
    os.write(2, f"schedmate: {name}: {what}\n".encode())
    return (_NOT_FOUND if missing else _CANNOT_RUN), f"{name}: {what}"


def _become(owner: dict[str, Any] | None) -> None:
    """Be the owner from now on, without a way back; None: the owner is who runs this process."""
    if owner is None:
        return
    uid, gid, groups = owner["uid"], owner["gid"], owner["groups"]
    if uid <= 0:
        raise PermissionError("a job of another account does not run as root")
    _limit(owner["limits"])
    os.umask(owner["umask"])
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid,) * 3 or set(os.getgroups()) - {gid} != set(groups) - {gid}:
        raise PermissionError("the owner's rights could not be taken")


def _limit(limits: dict[str, tuple[int, int]]) -> None:
    import resource

    for name, stated in limits.items():
        kind = getattr(resource, name)
        most = resource.getrlimit(kind)[1]
        least = [
            min((one for one in (wanted, most) if one != resource.RLIM_INFINITY), default=most)
            for wanted in stated
        ]
        try:
            resource.setrlimit(kind, (least[0], least[1]))
        except (ValueError, OSError):
            pass


def _open_log(path: str, begun_anew: int) -> int:
    """A pipe without a reader is an error, and not waited for."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | begun_anew | os.O_NOCTTY
    log = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(log, True)
    return log


def _end_leftovers() -> None:
    """What the job left behind in the background ends with it; as subreaper we inherit it."""
    begun = time.monotonic()
    while _reap() and (waited := time.monotonic() - begun) < _UNKILLABLE_S:
        number = signal.SIGTERM if waited < _LEFTOVERS_S else signal.SIGKILL
        for child in _children():
            try:
                os.kill(child, number)
            except ProcessLookupError:
                pass
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
    return [int(pid) for pid in _read(f"/proc/self/task/{os.getpid()}/children").split()]


def _born(pid: int) -> int:
    return int(_read(f"/proc/{pid}/stat").rpartition(")")[2].split()[19])


def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id").strip()


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _insist_on_writing(name: str, value: dict[str, Any]) -> None:
    """Unless its folder has been removed."""
    until = time.monotonic() + _WRITE_FOR_S
    while os.stat(".").st_nlink:
        try:
            _write(name, value)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(_WRITE_AGAIN_S)
        else:
            return


def _wake(spec: dict[str, Any]) -> None:
    """Tell the daemon. One that was killed has left its pipe without a reader: start another."""
    try:
        os.write(os.open(spec["wake"], os.O_WRONLY | os.O_NONBLOCK), b"e")
    except OSError as error:
        if error.errno == errno.ENXIO and spec["revive"]:
            os.execv(spec["revive"][0], spec["revive"])  # noqa: S606 - no shell is wanted


def _write(name: str, value: dict[str, Any]) -> None:
    """As JSON; whole or not at all, and on the disk before anybody relies on it."""
    text = ", ".join(f'"{key}": {_as_json(one)}' for key, one in value.items())
    private = os.open(f"{name}.draft", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(private, "w", encoding="utf-8", errors="replace") as file:
        file.write(f"{{{text}}}")
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{name}.draft", name)


def _as_json(value: object) -> str:
    """Of a number, a truth or a line of text."""
    if not isinstance(value, str):
        return str(value).lower()
    text = "".join(one if one.isprintable() else " " for one in value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
