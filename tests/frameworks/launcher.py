"""Has every framework imported once, and runs each script in a fork of itself.

Each line of its input is a JSON object: `argv` of a script, the file that gets its `output`, and
the file in which its exit `code` is written when it has ended.
"""

import json
import os
import runpy
import signal
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"

import accelerate  # noqa: F401
import keras  # noqa: F401
import lightning.pytorch  # noqa: F401
import stable_baselines3  # noqa: F401
from transformers import Trainer, TrainingArguments  # noqa: F401


def begin(argv: list[str], output: str, code: str) -> None:
    """Returns in the process that is to run the script."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        new = Path(f"{code}.new")
        new.write_text(str(os.waitstatus_to_exitcode(status)), encoding="utf-8")
        new.rename(code)
        os._exit(0)
    null, out = os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY)
    for opened, place in ((null, 0), (out, 1), (out, 2)):
        os.dup2(opened, place)
    sys.argv = argv


signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a script is no zombie afterwards
while line := sys.stdin.readline():
    if os.fork() == 0:
        begin(**json.loads(line))
        runpy.run_path(sys.argv[0], run_name="__main__")
        break
