"""Jobs that pick up where an earlier run stopped, and jobs that were told not to."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.frameworks.interpreted import said, statements
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
    first = 0
"""
LOAD = """
        state = torch.load({path})
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
        first = state["epoch"] + 1
"""
TRAINS = """
    for epoch in range(first, 10):
        net(torch.ones(1)).backward()
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, path)
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
    code = f"{function}\n    if {condition}:{LOAD.format(path='path')}{TRAINS}"
    assert told(tmp_path, code) is True


def test_a_path_that_is_there_or_not(tmp_path):
    code = f"""
    found = None
    if os.path.exists(path):
        found = path
    if found:{LOAD.format(path="found")}{TRAINS}"""
    assert told(tmp_path, code) is True


def test_a_file_that_gets_its_name_when_it_is_whole(tmp_path):
    code = f"""
    if os.path.exists(path):{LOAD.format(path="path")}
    for epoch in range(first, 10):
        net(torch.ones(1)).backward()
        torch.save({{"net": net.state_dict(), "epoch": epoch}}, path + ".part")
        os.replace(path + ".part", path)
    """
    assert told(tmp_path, code) is True


def test_the_newest_file_that_can_be_read(tmp_path):
    code = f"""
    found = sorted(glob.glob(args.out + "/*.pt"))
    while found:
        state = torch.load(found[-1])
        net.load_state_dict(state["net"])
        first = state["epoch"] + 1
        break{TRAINS}"""
    assert told(tmp_path, code) is True


def test_the_load_and_the_save_are_shown(tmp_path):
    code = f"""
    if os.path.exists(path):{LOAD.format(path="path")}{TRAINS}"""
    found = next(each for each in statements(tmp_path, START + code, readers=READERS))
    assert [line.text.strip().partition("(")[0] for line in found.evidence] == [
        "state = torch.load",
        "torch.save",
    ]


def test_weights_without_a_counter_begin_their_epochs_again(tmp_path):
    code = f"""
    if os.path.exists(path):
        net.load_state_dict(torch.load(path)["net"]){TRAINS}"""
    assert told(tmp_path, code) is None


def test_what_is_loaded_from_one_place_and_saved_to_another(tmp_path):
    code = f"""
    other = "elsewhere/last.pt"
    if os.path.exists(other):{LOAD.format(path="other")}{TRAINS}"""
    assert told(tmp_path, code) is None


def test_a_file_that_an_unknown_setting_names(tmp_path):
    code = f"""
    import yaml
    config = yaml.safe_load(open("nowhere.yaml"))
    state = torch.load(config["start"])
    net.load_state_dict(state["net"])
    first = state["epoch"] + 1{TRAINS}"""
    assert told(tmp_path, code) is None


@pytest.mark.parametrize("switch", ["--force_restart", "--no-resume", "--from_scratch"])
def test_a_command_that_says_to_begin_anew(tmp_path, switch):
    code = f"""
    more = argparse.ArgumentParser()
    more.add_argument("{switch}", action="store_true")
    more.parse_args()
    if os.path.exists(path):{LOAD.format(path="path")}{TRAINS}"""
    assert told(tmp_path, code, switch) is False


def test_a_directory_called_after_the_time_of_the_start(tmp_path):
    code = f"""
    if os.path.exists(path):{LOAD.format(path="path")}{TRAINS}"""
    assert told(tmp_path, code, "--out", "$(date +%s)") is None


def test_a_state_of_no_network(tmp_path):
    code = """
    if os.path.exists(path):
        z = np.load(path)
        field, first = z["field"], int(z["step"])
    for step in range(first, 10):
        np.savez(path, field=1, step=step)
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
    if args.resume:{LOAD.format(path="args.resume")}{TRAINS}"""
    assert told(tmp_path, code, "--resume", "out/7.pt") is None
    assert told(tmp_path, code, "--resume", "out/last.pt") is True


@pytest.mark.parametrize(
    ("given", "resumes"),
    [
        ("any(os.listdir(args.out)) or None", True),
        ("path if os.path.exists(path) else None", True),
        ("get_last_checkpoint(args.out)", True),
        ("True", True),
        ("'out/checkpoint-500'", False),
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
    code = f"{LOAD.format(path='path').replace('        ', '    ')}{TRAINS}"
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
