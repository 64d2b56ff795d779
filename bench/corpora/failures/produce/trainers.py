"""Training programs in several hands' styles around a part that fails.

The failing part is a module `task.py` with `prepare()` and `step(state, i)`, or one of them.
"""

from __future__ import annotations

_TASK = '''"""What is trained, and on what."""
import math
import random


def prepare():
    return {"seen": 0}


def step(state, i):
    state["seen"] += 32
    return 2.5 / (1 + i / 7) + random.random() / 9


'''
_PRINTS = """import sys
import time

import task


class Trainer:
    def __init__(self, epochs=3, steps=9):
        self.epochs, self.steps = epochs, steps

    def fit(self):
        state = task.prepare()
        print("model ready, 12,345,678 parameters")
        for epoch in range(self.epochs):
            self.run_epoch(state, epoch)
        print("training finished")

    def run_epoch(self, state, epoch):
        for i in range(self.steps):
            loss = self.train_one(state, epoch * self.steps + i)
            print(f"epoch {epoch} step {i:4d} loss {loss:.4f} lr 3.00e-04 {i * 3.1:.0f} samples/s")
        print(f"epoch {epoch} done, val_loss {loss * 1.02:.4f}, errors: 0")

    def train_one(self, state, i):
        return task.step(state, i)


def main():
    print("seed 1234 | device cpu | workers 4")
    Trainer().fit()


if __name__ == "__main__":
    main()
"""
_LOGS = """import argparse
import logging
import sys

import task

log = logging.getLogger("train")


def run_step(state, number):
    return task.step(state, number)


def train(args):
    state = task.prepare()
    log.info("starting run %s: 27 steps, batch 32 x 4 accumulation", args.name)
    for number in range(27):
        loss = run_step(state, number)
        if number % 3 == 0:
            log.info("step=%d/27 loss=%.4f gnorm=%.2f tok/s=%d", number, loss, 1.3, 51234)
        if number == 6:
            log.warning("gradient norm above 1.0 for 3 steps in a row")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="base-v2")
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)-8s %(name)s - %(message)s"
    )
    train(parser.parse_args())
    log.info("done")


if __name__ == "__main__":
    sys.exit(main())
"""
_BARS = """from tqdm import tqdm

import task


def loop(state, epochs):
    for epoch in range(epochs):
        bar = tqdm(range(10), desc=f"Epoch {epoch}", ncols=80, mininterval=0)
        for i in bar:
            loss = task.step(state, epoch * 10 + i)
            bar.set_postfix(loss=f"{loss:.3f}")
        print(f"[epoch {epoch}] train_loss={loss:.4f}")


if __name__ == "__main__":
    print("Loading configuration from configs/base.yaml")
    print("WARNING: wandb is disabled, no error reports will be sent")
    loop(task.prepare(), 3)
"""
_CATCHES = """import logging
import sys

import task

logging.basicConfig(level="INFO", format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s")
logger = logging.getLogger(__name__)


class Engine:
    def run(self):
        state = task.prepare()
        for it in range(25):
            loss = self.forward_backward(state, it)
            logger.info(f"Iteration {it}: loss {loss:.5f}, time 0.31s, data 0.002s, max mem: 2034")

    def forward_backward(self, state, it):
        return task.step(state, it)


if __name__ == "__main__":
    logger.info("Rank of current process: 0. World size: 1")
    try:
        Engine().run()
    except Exception:
        logger.exception("Training stopped")
        sys.exit(1)
    finally:
        logger.info("Writer closed, 0 events dropped")
"""
_STYLES = {"print": _PRINTS, "logging": _LOGS, "tqdm": _BARS, "caught": _CATCHES}

JOB = """#!/bin/bash
echo "== job started on $(hostname), working directory $PWD =="
echo "Python $(python -V 2>&1 | cut -d' ' -f2), 4 CPUs, logs in ./logs"
python -u train.py "$@"
status=$?
echo "== job ended with status $status =="
exit $status
"""


def trainer(style: str, task: str, **files: str) -> dict[str, str]:
    """Return the files of a training program whose `task.py` ends in the given lines."""
    more = {name.replace("_py", ".py"): text for name, text in files.items()}
    return {
        "train.py": _STYLES[style],
        "task.py": _TASK + task.strip() + "\n",
        "job.sh": JOB,
        **more,
    }
