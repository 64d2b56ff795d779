"""Jobs that pick up where an earlier run stopped, and jobs that were told not to."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.frameworks.interpreted import said
from schedmate.advisor.frameworks.resuming import resuming, trainer_resumes

READERS = (resuming, trainer_resumes)
START = """
    import argparse, glob, os, pickle
    import numpy as np
    import torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    parser.add_argument("--out", default="out")
    args = parser.parse_args()
    net = torch.nn.Linear(1, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    path = os.path.join(args.out, "last.pt")
"""
LOAD = """
        state = torch.load({path})
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
"""


def told(directory: Path, code: str, *arguments: str) -> bool | None:
    return said(directory, START + code, *arguments, readers=READERS).get("resumes")


@pytest.mark.parametrize(
    "condition",
    [
        "os.path.exists(path)",
        "not args.resume and os.path.isfile(path)",
        "len(glob.glob(args.out + '/*.pt')) > 0",
        "(path := latest(args.out)) is not None",
    ],
)
def test_a_load_that_only_waits_for_a_file(tmp_path, condition):
    function = """
    def latest(folder):
        found = sorted(glob.glob(folder + "/*.pt"))
        return found[-1] if found else None
"""
    assert told(tmp_path, f"{function}\n    if {condition}:{LOAD.format(path='path')}") is True


def test_a_path_that_is_there_or_not(tmp_path):
    code = """
    found = None
    if os.path.exists(path):
        found = path
    if found:
        net.load_state_dict(torch.load(found))
    """
    assert told(tmp_path, code) is True


def test_a_state_of_no_network(tmp_path):
    code = """
    if os.path.exists(path):
        z = np.load(path)
    np.savez(path, a=1)
    """
    assert told(tmp_path, code) is True


def test_pretrained_weights_are_no_resumption(tmp_path):
    code = """
    if os.path.exists("imagenet.pth"):
        net.load_state_dict(torch.load("imagenet.pth"))
    """
    assert told(tmp_path, code) is None


def test_an_unknown_switch_is_no_file(tmp_path):
    code = f"""
    if torch.rand(1) > 0.5:{LOAD.format(path="path")}"""
    assert told(tmp_path, code) is None


@pytest.mark.parametrize(
    ("test", "resumes"),
    [
        ("args.resume", False),
        ("args.resume is not None and args.resume != ''", False),
        ("args.resume and os.path.isfile(args.resume)", False),
        ("args.out == 'pretrained'", None),
    ],
)
def test_a_load_that_a_setting_leaves_out(tmp_path, test, resumes):
    code = f"""
    if {test}:{LOAD.format(path="args.resume")}"""
    assert told(tmp_path, code) is resumes


def test_a_checkpoint_that_the_command_line_names(tmp_path):
    code = f"""
    if args.resume:{LOAD.format(path="args.resume")}"""
    assert told(tmp_path, code, "--resume", "out/7.pt") is True


@pytest.mark.parametrize(
    ("given", "resumes"),
    [
        ("any(os.listdir(args.out)) or None", True),
        ("path if os.path.exists(path) else None", True),
        ("get_last_checkpoint(args.out)", True),
        ("None", False),
        ("args.resume", False),
    ],
)
def test_a_trainer(tmp_path, given, resumes):
    code = f"""
    from transformers import Trainer
    from transformers.trainer_utils import get_last_checkpoint
    trainer = Trainer(net)
    trainer.train(resume_from_checkpoint={given})
    """
    assert told(tmp_path, code) is resumes


@pytest.mark.parametrize(
    "restore",
    [
        "tf.train.Checkpoint().restore(tf.train.latest_checkpoint(args.out))",
        "tf.train.CheckpointManager(1, args.out).restore_or_initialize()",
    ],
)
def test_a_manager_that_restores_the_latest(tmp_path, restore):
    assert told(tmp_path, f"\n    import tensorflow as tf\n    {restore}\n") is True


def test_the_best_of_a_training_that_is_over_is_no_start(tmp_path: Path) -> None:
    code = """
    for epoch in range(10):
        torch.save(net.state_dict(), path)
    net.load_state_dict(torch.load(path))
    """
    assert told(tmp_path, code) is None


def test_what_later_epochs_write_again_is_a_start(tmp_path: Path) -> None:
    code = """
    net.load_state_dict(torch.load(path))
    for epoch in range(10):
        torch.save(net.state_dict(), path)
    """
    assert told(tmp_path, code) is True


def test_data_that_was_kept_is_no_checkpoint(tmp_path: Path) -> None:
    code = """
    def kept():
        place = os.path.join(args.out, "val_targets.pkl")
        if os.path.exists(place):
            with open(place, "rb") as file:
                return pickle.load(file)
        made = [1]
        with open(place, "wb") as file:
            pickle.dump(made, file)
        return made
    targets = kept()
"""
    assert told(tmp_path, code) is None
