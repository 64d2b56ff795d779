"""Imports modules once, and runs each program in a fork of itself: `server.py SOCKET MODULE...`

Ends when its standard input does. `client.py` asks it.
"""

import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import time


def run(request: dict, files: list[int]) -> None:
    """As `python *words` would; the end of it is the end of the interpreter."""
    for place, opened in enumerate(files):
        os.dup2(opened, place)
        os.close(opened)
    _open_streams()
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    time.tzset()
    first, *words = request["words"]
    if first == "-m":
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = request["words"]
        runpy.run_path(first, run_name="__main__")


def _open_streams() -> None:
    """Those of the server know what its own files are."""
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        size = 0 if at_once and place else -1
        buffer = open(place, "wb" if place else "rb", size, closefd=False)  # noqa: SIM115
        stream = io.TextIOWrapper(
            buffer,
            before.encoding,
            before.errors,
            line_buffering=name == "stderr" or buffer.isatty(),
            write_through=at_once,
        )
        setattr(sys, name, stream)


def watch(channel: socket.socket) -> tuple[dict, list[int]] | None:
    """Tells the client how the program ended, which it returns in a process of its own."""
    size, files, _, _ = socket.recv_fds(channel, 4, 3)
    with channel.makefile("rb") as said:
        request = json.loads(said.read(int.from_bytes(size, "big")))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        channel.close()
        return request, files
    for opened in files:
        os.close(opened)
    _, status = os.waitpid(child, 0)
    channel.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    return None


def serve(path: str) -> tuple[dict, list[int]] | None:
    """Returns in the forks only: what to run, if anything, and its files."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what has ended leaves no zombie
    gc.freeze()
    while sys.stdin not in select.select([sys.stdin, listening], [], [])[0]:
        channel, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            return watch(channel)
        channel.close()
    return None


for name in sys.argv[2:]:
    importlib.import_module(name)
wanted = serve(sys.argv[1])
if wanted is not None:
    run(*wanted)
