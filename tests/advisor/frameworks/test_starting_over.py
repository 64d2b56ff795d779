"""Trainings that were read as a whole and take nothing up."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.frameworks.interpreted import said
from schedmate.advisor.frameworks.starting_over import starting_over

START = """
    import argparse, os
    import torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--ckpt", default={given})
    args = parser.parse_args()
    net = torch.nn.Linear(1, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
TRAIN = """
    for epoch in range(3):
        loss = net(torch.rand(1)).sum()
        loss.backward()
        opt.step()
        torch.save(net.state_dict(), "out/last.pt")
"""


def resumes(directory: Path, code: str, given: str = "None") -> bool | None:
    return said(directory, START.format(given=given) + code, readers=(starting_over,)).get(
        "resumes"
    )


@pytest.mark.parametrize(
    "before",
    [
        "",
        '    net.load_state_dict(torch.load("pretrained.pt"))\n',
        "    if args.ckpt:\n        net.load_state_dict(torch.load(args.ckpt))\n",
    ],
)
def test_a_training_that_only_saves_starts_over(tmp_path: Path, before: str) -> None:
    assert resumes(tmp_path, before + TRAIN) is False


def test_a_load_of_its_own_state_leaves_it_open(tmp_path: Path) -> None:
    code = """
    if torch.cuda.is_available():
        state = torch.load("out/checkpoint.pt")
        opt.load_state_dict(state["opt"])
"""
    assert resumes(tmp_path, code + TRAIN) is None


def test_a_job_that_trains_nothing_has_nothing_to_resume(tmp_path: Path) -> None:
    assert resumes(tmp_path, "    print(net(torch.rand(1)))\n") is None


def test_an_estimator_resumes_by_itself(tmp_path: Path) -> None:
    code = """
    import tensorflow as tf
    estimator = tf.estimator.Estimator(model_fn=None, model_dir="out")
"""
    assert resumes(tmp_path, code + TRAIN) is None
