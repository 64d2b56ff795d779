"""Stated work that is done, that is not done, and runs that never got to it.

Each case is a past of real files, read and remembered as the daemon does it, and then `advise`.
"""

import random
from itertools import count

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.predict.site_model import learn
from schedmate.files import INVOKER
from schedmate.model import Job, JobState, PastRun, Request
from schedmate.testing.history import MemoryHistory

CODE = """
import argparse, torch
import torch.distributed as dist
from torchvision.models import resnet50
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=90)
parser.add_argument("--out", default="out")
args = parser.parse_args()
dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(resnet50().cuda())
for epoch in range(args.epochs):
    print("epoch", epoch)
"""
HONEST_S, OVERRUN_S = 9060.0, 9200.0


class Site:
    """A past that grows run by run."""

    def __init__(self, directory):
        self.directory = directory
        self.history = MemoryHistory()
        self._now, self._ids, self._random = 1e9, count(), random.Random(1)
        self.write(CODE)

    def write(self, code):
        (self.directory / "train.py").write_text(code)

    def advise(self, *arguments, user="ann", gpus=1):
        return Advisor(self.history, self.history).advise(self._target(arguments, user, gpus))

    def predict(self, *arguments, **request):
        return self.advise(*arguments, **request).advice.prediction

    def run(self, seconds, *arguments, user="ann", gpus=1, state=JobState.COMPLETED):
        """It takes so long, within 2 %, and is remembered; what was predicted of it."""
        target = self._target(arguments, user, gpus)
        advised = self.advise(*arguments, user=user, gpus=gpus)
        end = self._now + seconds * self._random.uniform(0.98, 1.02)
        job = Job(
            id=str(next(self._ids)),
            name=target.name,
            user=user,
            state=state,
            workdir=str(self.directory),
            command=target.command,
            request=target.request,
            submit_time=self._now,
            start_time=self._now,
            end_time=end,
        )
        workload = advised.advice.workload
        self.history.add(PastRun(job=job, fingerprint=advised.fingerprint, workload=workload))
        self._now = end + 60
        return advised.advice.prediction

    def learn(self):
        learn(self.history, at=self._now)

    def _target(self, arguments, user, gpus):
        return Target(
            workdir=self.directory,
            command=("python", "train.py", *map(str, arguments)),
            user=user,
            name="train",
            request=Request(gpus=gpus, time_limit_s=86400.0),
            submitted_at=self._now,
            by=INVOKER,
        )


def add_runs_of_others(site):
    """Honest runs of the same code at another pace, enough to learn a site model from."""
    for number in range(33):
        epochs = (10, 30, 60)[number % 3]
        site.run(20.0 * epochs, "--epochs", epochs, "--out", number, user="bcd"[number % 3])


def vary_nothing(site, number):
    return ("--epochs", 1)


def vary_the_output(site, number):
    return ("--epochs", 1, "--out", number)


def vary_the_code(site, number):
    site.write(f"{CODE}print({number})\n")
    return ("--epochs", 1)


def vary_the_epochs(site, number):
    return ("--epochs", number + 1)


def vary_code_and_epochs(site, number):
    site.write(f"{CODE}print({number})\n")
    return ("--epochs", number + 1)


@pytest.mark.slow
@pytest.mark.parametrize("past", ["own", "own, learnt", "with others, learnt"])
@pytest.mark.parametrize(
    "vary",
    [vary_nothing, vary_the_output, vary_the_code, vary_the_epochs, vary_code_and_epochs],
)
def test_epochs_that_the_code_ignores_are_not_believed_again(tmp_path, vary, past):
    site = Site(tmp_path)
    if "others" in past:
        add_runs_of_others(site)
    for _ in range(12):
        site.run(HONEST_S, "--epochs", 90)
    predicted = []
    for number in range(5):
        if "learnt" in past and number < 2:
            site.learn()
        predicted.append(site.run(OVERRUN_S, *vary(site, number)).duration_s)
    for spread in predicted[1:]:
        assert OVERRUN_S / 2 < spread.p50 < OVERRUN_S * 2
        assert OVERRUN_S < spread.p90 < OVERRUN_S * 3


def test_own_runs_of_the_same_words_count_before_those_of_others(tmp_path):
    """What a user sets in the environment may make another job of them."""
    site = Site(tmp_path)
    for user in "bcdbcd":
        site.run(100.0, "--epochs", 1, user=user)
    assert site.run(OVERRUN_S, "--epochs", 1).duration_s.p50 == pytest.approx(100, rel=0.1)
    assert site.predict("--epochs", 1).duration_s.p50 == pytest.approx(OVERRUN_S, rel=0.1)
    assert site.predict("--epochs", 1, user="bob").duration_s.p50 == pytest.approx(100, rel=0.1)


def test_who_overran_once_is_not_believed_with_other_code(tmp_path):
    """Models that others train honestly, in code that is new each time."""
    site, models = Site(tmp_path), ("resnet50", "vgg16", "alexnet")
    for number in range(36):
        site.write(CODE.replace("resnet50", models[number % 3]))
        epochs = (1, 10, 30)[number // 3 % 3]
        site.run(100.0 * epochs, "--epochs", epochs, user="bcd"[number % 3])
    for number, model in enumerate(models):
        site.write(CODE.replace("resnet50", model) + f"print({number})\n" * (number + 1))
        if number == 0:
            site.run(OVERRUN_S, "--epochs", 1, user="eve")
            continue
        site.learn()
        predicted = site.run(OVERRUN_S, "--epochs", 1, user="eve")
        assert OVERRUN_S / 2 < predicted.duration_s.p50 < OVERRUN_S * 2


def test_a_prediction_names_that_stated_epochs_do_not_count(tmp_path):
    site = Site(tmp_path)
    for epochs in (90, 90, 1):
        site.run(HONEST_S, "--epochs", epochs)
    said = site.predict("--epochs", 2)
    assert said.basis == "same_code"
    assert said.explanation == (
        "like job 2: same code; 3 such runs; their stated epochs made none of them shorter"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("exponent", "start_up"), [(0.8, 0.0), (1.0, 200.0)])
def test_epochs_that_count_are_scaled_by(tmp_path, exponent, start_up):
    site = Site(tmp_path)
    shapes = [(epochs, gpus) for epochs in (30, 60, 90) for gpus in (4, 8, 16)]

    def seconds(epochs, gpus):
        return start_up + (1250 - start_up) * epochs / 45 * (16 / gpus) ** exponent

    for number in range(60):
        epochs, gpus = shapes[number * 5 % len(shapes)]
        site.run(seconds(epochs, gpus), "--epochs", epochs, "--out", number, gpus=gpus)
    alone = site.predict("--epochs", 45, gpus=16).duration_s
    site.learn()
    for spread in (alone, site.predict("--epochs", 45, gpus=16).duration_s):
        assert spread.p50 == pytest.approx(1250, rel=0.1)
        assert spread.p90 < 2 * spread.p10


def test_the_first_short_run_of_an_honest_code_does_not_make_its_epochs_void(tmp_path):
    site = Site(tmp_path)
    for _ in range(12):
        site.run(HONEST_S, "--epochs", 90)
    site.run(HONEST_S / 90 + 60, "--epochs", 1)  # and a minute to start up
    assert site.predict("--epochs", 30).duration_s.p50 == pytest.approx(HONEST_S / 3, rel=0.1)


@pytest.mark.parametrize("edited", [False, True])
def test_runs_that_failed_at_once_tell_nothing_of_the_mended_job(tmp_path, edited):
    site = Site(tmp_path)
    for _ in range(2):
        site.run(1.0, "--epochs", 3, state=JobState.FAILED)
    if edited:
        site.write(CODE.replace("print(", "print(1, "))
    said = site.predict("--epochs", 3)
    assert said.duration_s is None
    assert said.outcome.failed > said.outcome.completed
    assert said.explanation == "the 2 runs it resembles failed"


def test_failures_of_a_user_are_no_past_to_go_by_where_the_site_has_another(tmp_path):
    site = Site(tmp_path)
    for number in range(33):
        if number % 11 == 0:
            site.write(CODE)
            site.run(1.0, "--epochs", 3, state=JobState.FAILED)
        else:
            site.write(CODE.replace("resnet50", "vgg16"))
            site.run(7200.0, "--epochs", number + 1, user="bcd"[number % 3])
    site.learn()
    site.write(CODE.replace("print(", "print(1, "))
    said = site.predict("--epochs", 3)
    assert said.explanation.startswith("the 3 runs it resembles failed; by the ")
    assert said.duration_s.p50 == pytest.approx(7200, rel=0.2)


def test_a_failure_after_hours_says_how_long_it_takes_at_least(tmp_path):
    site = Site(tmp_path)
    for number in range(3):
        site.run(60.0, "--epochs", 3, user="bob", gpus=2 + number)
    site.write(CODE.replace("resnet50", "some_other_net"))
    site.run(7200.0, "--epochs", 3, state=JobState.FAILED)
    said = site.predict("--epochs", 3)
    assert said.duration_s is None or said.duration_s.p50 >= 7000


def test_runs_that_reached_their_limit_or_were_cancelled_are_ends(tmp_path):
    site = Site(tmp_path)
    site.run(3600.0, "--epochs", 3, state=JobState.TIMEOUT)
    assert site.predict("--epochs", 3).duration_s.p50 == pytest.approx(3600, rel=0.05)
