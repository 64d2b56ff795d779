# ruff: noqa: T201 - a job writes to its log
"""A job that writes steadily for a while and is silent then, in one of many ways.

python silent_job.py KIND LINES SILENT_SECONDS
"""

import socket
import subprocess
import sys
import time
from pathlib import Path

EVERY_S = 0.05
FOR_EVER_S = 100_000
ANNOUNCEMENTS = {
    "checkpoint": "Saving model checkpoint to out/checkpoint-100",
    "evaluation": "Evaluating on 5000 images",
    "compile": "Compiling the model with torch.compile",
}
BURN = "import time\nend = time.time() + {}\nwhile time.time() < end: pass"


def be_silent(kind: str, silent_s: float) -> None:
    if kind == "cpu":
        exec(BURN.format(silent_s))
    elif kind == "child":
        subprocess.run([sys.executable, "-c", BURN.format(silent_s)], check=True)
    elif kind == "files":
        for number in range(int(4 * silent_s)):
            Path(f"part-{number}").write_text("x")
            time.sleep(0.25)
    elif kind == "consumer":
        pair = socket.socketpair()
        pair[0].recv(1)
    elif kind == "parent":
        subprocess.run(["sleep", str(FOR_EVER_S)], check=True)
    elif kind == "dead files":
        Path("..", "dead", "data").read_bytes()
    else:
        time.sleep(FOR_EVER_S if kind == "hang" else silent_s)


def main(kind: str, lines: int, silent_s: float) -> None:
    for number in range(1, lines + 1):
        print(f"step {number}/{lines + 5} loss {1 / number:.4f}", flush=True)
        time.sleep(EVERY_S)
    if kind in ANNOUNCEMENTS:
        print(ANNOUNCEMENTS[kind], flush=True)
    be_silent(kind, silent_s)
    for number in range(lines + 1, lines + 6):
        print(f"step {number}/{lines + 5} loss {1 / number:.4f}", flush=True)
        time.sleep(EVERY_S)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
