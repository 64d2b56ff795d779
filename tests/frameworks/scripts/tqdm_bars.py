"""Bars as people draw them; the argument says how."""

import random
import sys
import time

from tqdm import tqdm, trange

EPOCHS, STEPS, STEP_S = 3, 16, 0.19


def work():
    time.sleep(STEP_S)
    return random.random()


def nested():
    for _ in trange(EPOCHS, desc="Epoch"):
        for _ in tqdm(range(STEPS), desc="train", leave=False):
            work()


def numbered():
    for epoch in range(EPOCHS):
        bar = tqdm(range(STEPS), desc=f"Epoch {epoch + 1}/{EPOCHS}")
        for _ in bar:
            bar.set_postfix(loss=work(), lr=3e-4)


def unknown():
    for _ in tqdm((work() for _ in range(EPOCHS * STEPS)), desc="train"):
        pass


def slow():
    for _ in tqdm(range(5), mininterval=0.5):
        time.sleep(1.8)


def write():
    bar = tqdm(range(EPOCHS * STEPS), ascii=True, unit="batch")
    for step in bar:
        bar.set_description(f"loss {work():.3f}")
        if step % 8 == 0:
            tqdm.write(f"a word beside the bar at {step}")


def shaped():
    shape = "{desc}: {percentage:.1f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]"
    for _ in tqdm(range(EPOCHS * STEPS), desc="train", bar_format=shape):
        work()


globals()[sys.argv[1]]()
