"""Has a program run by `server.py`; `client.py SOCKET WORD...` has it run in its own place."""

import json
import os
import socket
import sys


def begin(server: str, words: list[str], cwd: str, env: dict, files: list[int]) -> socket.socket:
    """`files` are its standard input, output and error."""
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(server)
    request = json.dumps({"words": words, "cwd": cwd, "env": env}).encode()
    socket.send_fds(channel, [len(request).to_bytes(4, "big")], files)
    channel.sendall(request)
    return channel


def wait(channel: socket.socket) -> int:
    with channel:
        return int(channel.recv(8))


if __name__ == "__main__":
    here = os.getcwd()  # noqa: PTH109 - pathlib would cost more than the rest
    code = wait(begin(sys.argv[1], sys.argv[2:], here, dict(os.environ), [0, 1, 2]))
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)
