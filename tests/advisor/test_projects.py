"""Whole small projects, read as a user would have them advised on."""

from pathlib import Path

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.testing.history import MemoryHistory

PROJECTS = Path(__file__).parent / "projects"


def advise(project, *words, script=None):
    directory = PROJECTS / project
    target = (
        Target.from_script(directory, script, words)
        if script
        else Target.from_command(directory, words)
    )
    history = MemoryHistory()
    return Advisor(history, history).advise(target).advice


def found(advice):
    """Field → (value, source, file, line) of what is stated."""
    facts = {}
    for name in advice.workload.__slots__:
        finding = getattr(advice.workload, name)
        if finding is not None:
            line = finding.evidence[0]
            facts[name] = (finding.value, finding.source, line.file, line.line)
    return facts


def test_a_script_with_directives_variables_launchers_and_a_parser_in_two_files():
    assert found(advise("argparse_net", script="job.sh")) == {
        "entry_point": ("train.py", "script", "job.sh", 15),
        "framework": ("pytorch", "code", "train.py", 5),
        "task": ("image_classification", "code", "options.py", 6),
        "optimizer": ("adamw", "code", "train.py", 26),
        "d_model": (256, "code", "train.py", 15),
        "dataset": ("cifar10", "code", "options.py", 6),
        "epochs": (90.0, "script", "job.sh", 7),
        "learning_rate": (0.001, "script", "job.sh", 8),
        "precision": ("bf16", "script", "job.sh", 9),
        "nodes": (2, "script", "job.sh", 3),
        "gpus": (8, "derived", "job.sh", 4),
        "checkpoint_every": (500, "code", "train.py", 18),
        "resumes": (False, "code", "train.py", 17),
        "log_files": (("logs/net.log",), "script", "job.sh", 16),
    }


def test_an_argument_of_the_script_beats_its_default():
    facts = found(advise("argparse_net", "30", script="job.sh"))
    assert facts["epochs"] == (30.0, "cli", "<command>", 1)


def test_a_value_from_an_unknown_variable_hides_the_default_and_is_not_guessed():
    assert "batch_size" not in found(advise("argparse_net", script="job.sh"))


def test_constants_are_read_where_they_are_set_once():
    assert found(advise("constants", "python", "train.py")) == {
        "entry_point": ("train.py", "cli", "<command>", 1),
        "model": ("mlp", "code", "train.py", 10),
        "batch_size": (32, "code", "train.py", 8),
        "epochs": (12.0, "code", "train.py", 7),
        "learning_rate": (0.01, "code", "train.py", 9),
    }


def test_the_command_line_beats_a_config_which_beats_the_code():
    config = found(advise("constants", "python", "train.py", "small.py"))
    assert config["epochs"] == (2.0, "config", "small.py", 3)
    both = found(advise("constants", "python", "train.py", "small.py", "--n_epochs=7"))
    assert both["epochs"] == (7.0, "cli", "<command>", 1)


def test_a_module_its_relative_imports_and_the_chosen_subcommand():
    assert found(advise("package", "python", "-m", "mynet.train", "fit")) == {
        "entry_point": ("mynet/train.py", "cli", "<command>", 1),
        "framework": ("lightning", "code", "mynet/train.py", 5),
        "batch_size": (24, "code", "mynet/train.py", 17),
        "epochs": (5.0, "code", "mynet/settings.py", 3),
        "resumes": (False, "code", "mynet/train.py", 19),
    }


def test_no_python_at_all_states_only_what_was_asked_for():
    advice = advise("shell_only", script="job.sh")
    assert found(advice) == {"gpus": (1, "script", "job.sh", 2)}
    assert advice.prediction.basis == "none"
    assert "0123456789abcdef" not in str(advice)


@pytest.mark.parametrize(
    ("arguments", "epochs"),
    [
        (["--epochs", "3"], 3),
        (["--epochs=3"], 3),
        (["-e", "3"], 3),
        (["-e3"], 3),
        (["--ep", "3"], 3),
        (["--epochs", "3", "--epochs", "4"], 4),
        (["--epochs", "many"], None),
        ([], 20),
    ],
)
def test_options_are_matched_as_argparse_does(arguments, epochs):
    advice = advise("argparse_net", "python", "train.py", *arguments)
    finding = advice.workload.epochs
    assert (None if finding is None else finding.value) == epochs


STOPS = """import argparse
p = argparse.ArgumentParser()
p.add_argument("--patience", type=int, default=0)
p.add_argument("--max-train-minutes", type=float, default=30)
args = p.parse_args()
if args.patience:
    callbacks.append(EarlyStopping(patience=args.patience))
"""


@pytest.mark.parametrize(
    ("command", "cap", "stops"),
    [
        ("python train.py", (1800.0, "code", "train.py", 4), (False, "code", "train.py", 3)),
        (
            "timeout -k 10s 5m srun python train.py --patience 3",
            (300.0, "cli", "<command>", 1),
            (True, "cli", "<command>", 1),
        ),
        (
            "timeout 1h bash -c 'python train.py --max-train-minutes 2'",
            (120.0, "cli", "<command>", 1),
            (False, "code", "train.py", 3),
        ),
        (
            "timeout $LONG python train.py",
            (1800.0, "code", "train.py", 4),
            (False, "code", "train.py", 3),
        ),
    ],
)
def test_what_ends_a_run_before_its_last_epoch(tmp_path, command, cap, stops):
    (tmp_path / "train.py").write_text(STOPS)
    history = MemoryHistory()
    target = Target.from_command(tmp_path, ["bash", "-c", command])
    facts = found(Advisor(history, history).advise(target).advice)
    assert (facts["max_time_s"], facts["early_stopping"]) == (cap, stops)


def test_the_line_of_the_script_that_kills_a_run_is_shown(tmp_path):
    (tmp_path / "train.py").write_text("")
    (tmp_path / "job.sh").write_text("#!/bin/sh\nlimit=90m\ntimeout $limit python train.py\n")
    history = MemoryHistory()
    advice = Advisor(history, history).advise(Target.from_script(tmp_path, "job.sh", ())).advice
    assert found(advice)["max_time_s"] == (5400.0, "script", "job.sh", 2)


@pytest.mark.parametrize(
    ("command", "logs"),
    [
        (
            "srun -n 8 --output=logs/%t.out -e logs/%t.err python train.py -o x",
            ("logs/%t.out", "logs/%t.err"),
        ),
        ("srun torchrun --log-dir ranks --tee 3 -m train > all.log", ("ranks", "all.log")),
        ("torchrun --log_dir=ranks train.py 2>&1 | tee all.log", ("ranks", "all.log")),
    ],
)
def test_launchers_say_where_the_ranks_write(tmp_path, command, logs):
    (tmp_path / "train.py").write_text("")
    (tmp_path / "job.sh").write_text(f"#!/bin/sh\n{command}\n")
    history = MemoryHistory()
    advice = Advisor(history, history).advise(Target.from_script(tmp_path, "job.sh", ())).advice
    assert found(advice)["log_files"] == (logs, "script", "job.sh", 2)
