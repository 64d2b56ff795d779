from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.options.interpreting import job
from advisor.options.replay import Replay, plain, value
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Dotted,
    LocalFunction,
    Table,
    Value,
)
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.sources.files import evidence

P = "argparse.ArgumentParser"
INT, FLOAT = Dotted("int"), Dotted("builtins.float")


def parse(replay: Replay, *declared: tuple, **settings):
    parser = replay(P, **settings)
    for *names, keywords in declared:
        replay(f"{P}.add_argument", *names, on=parser, **keywords)
    return replay(f"{P}.parse_args", on=parser)


def namespace(command: str, *declared: tuple):
    return plain(parse(Replay(command), *declared))


@pytest.mark.parametrize(
    ("command", "keywords", "expected"),
    [
        ("", {"type": INT, "default": 3}, 3),
        ("", {"type": INT, "default": "3"}, 3),
        ("--epochs 5", {"type": INT, "default": 3}, 5),
        ("--epochs=5", {"type": FLOAT}, 5.0),
        ("--epochs=1e-3", {"type": FLOAT}, 0.001),
        ("--epochs -1", {"type": INT}, -1),
        ("--epochs 5", {}, "5"),
        ("--ep 5", {"type": INT}, 5),
        ("-e5", {"type": INT}, 5),
        ("-e 5", {"type": INT}, 5),
        ("--epochs 1e6", {"type": INT}, UNKNOWN_DATA),
        ("--epochs 5 --epochs 6", {"type": INT}, 6),
        ("--epochs 1 2 3", {"type": INT, "nargs": "+"}, [1, 2, 3]),
        ("--epochs 1 2", {"type": INT, "nargs": 2}, [1, 2]),
        ("--epochs", {"nargs": "?", "const": 7}, 7),
        ("", {"nargs": "?", "const": 7, "default": 1}, 1),
        ("--epochs", {"action": "store_true"}, True),
        ("", {"action": "store_true"}, False),
        ("", {"action": "store_false"}, True),
        ("--epochs", {"action": "store_false"}, False),
        ("--epochs", {"action": "store_const", "const": 9}, 9),
        ("--epochs 1 --epochs 2", {"action": "append"}, ["1", "2"]),
        ("--epochs 1 2 --epochs 3", {"action": "extend", "nargs": "+"}, ["1", "2", "3"]),
        ("-ee", {"action": "count", "default": 0}, 2),
        ("--no-epochs", {"action": Dotted("argparse.BooleanOptionalAction")}, False),
        ("--epochs", {"action": Dotted("argparse.BooleanOptionalAction")}, True),
        ("--epochs False", {"type": Dotted("bool")}, True),
        ("--epochs false", {"type": Dotted("distutils.util.strtobool")}, False),
        ("--epochs [1,2]", {"type": Dotted("eval")}, [1, 2]),
        ("--epochs '{\"a\": [1, true]}'", {"type": Dotted("json.loads")}, {"a": [1, True]}),
        ("--epochs a=1 b=x", {"action": Dotted("mmengine.DictAction"), "nargs": "+"}, None),
    ],
)
def test_an_option_is_what_the_program_will_see(command, keywords, expected) -> None:
    found = namespace(command, ("--epochs", "-e", keywords))["epochs"]
    assert found == (expected if expected is not None else {"a": 1, "b": "x"})


def test_the_word_is_the_evidence_and_the_default_s_line_where_none_is_given() -> None:
    replay = Replay("--lr 0.1")
    parse(replay, ("--lr", {"type": FLOAT}), ("--wd", {"default": value(0.5, 77)}))
    assert replay.said("wd") == (0.5, "code", 77)
    assert replay.options["lr"].lines[0].text == "--lr 0.1"
    assert replay.options["lr"].source == "cli"


def test_a_word_of_a_script_has_the_script_as_its_source() -> None:
    line = evidence("job.sh", 4, "EPOCHS=3")
    use = evidence("job.sh", 9, "python train.py --epochs $EPOCHS")
    replay = Replay([Word("--epochs", (use,)), Word("3", (line, use))])
    parse(replay, ("--epochs", {"type": INT}))
    assert replay.said("epochs") == (3, "script", 4)
    assert replay.options["epochs"].lines == (line, use)


def test_what_the_environment_decides_hides_the_default() -> None:
    line = (evidence("job.sh", 9, "python train.py --epochs $EPOCHS --lr=$LR"),)
    words = [
        Word("--epochs", line),
        Word("$EPOCHS", line, known=False),
        Word("--lr=$LR", line, known=False),
    ]
    replay = Replay(words)
    parse(replay, ("--epochs", {"type": INT, "default": 3}), ("--lr", {"default": 0.1}))
    assert not replay.options["epochs"].known
    assert not replay.options["lr"].known


def test_positionals_share_the_words_out() -> None:
    declared = [("data", {"nargs": "?", "default": "d"}), ("out", {}), ("more", {"nargs": "*"})]
    assert namespace("a b c d", *declared) == {"data": "a", "out": "b", "more": ["c", "d"]}
    assert namespace("b", *declared)["out"] == "b"
    assert namespace("b", *declared)["data"] == "d"


def test_behind_two_dashes_all_words_are_positional() -> None:
    assert namespace("-- --x", ("name", {}))["name"] == "--x"


def test_undeclared_words_are_options_all_the_same() -> None:
    replay = Replay("--max_epochs 5 --fp16 --lr 0.1")
    found = parse(replay, ("--lr", {"type": FLOAT}))
    assert plain(found) == {"lr": 0.1, "max_epochs": 5, "fp16": True}
    assert replay.said("max_epochs")[:2] == (5, "cli")
    assert isinstance(found.data, Table)
    assert not found.data.complete


def test_known_args_leaves_the_rest_to_the_next_parser() -> None:
    replay = Replay("--config c.yaml --epochs 5 --flag", configs={"c.yaml": "lr: 0.3\nepochs: 9"})
    first = replay(P)
    replay(f"{P}.add_argument", "--config", on=first)
    both = replay(f"{P}.parse_known_args", on=first)
    found, rest = both.data.items
    assert plain(found) == {"config": "c.yaml"}
    assert plain(rest) == ["--epochs", "5", "--flag"]
    assert "epochs" not in replay.options
    second = replay(P, parents=[first])
    replay(f"{P}.add_argument", "--lr", on=second, type=FLOAT, default=0.1)
    replay(f"{P}.add_argument", "--epochs", on=second, type=INT, default=1)
    config = replay.read_config("c.yaml")
    replay(f"{P}.set_defaults", on=second, **config.data.parts)
    result = plain(replay(f"{P}.parse_args", rest, on=second))
    assert result == {"config": None, "lr": 0.3, "epochs": 5, "flag": True}
    assert replay.said("lr")[1] == "config"
    assert replay.said("epochs")[1] == "cli"


def test_groups_and_defaults_of_the_code() -> None:
    replay = Replay("")
    parser = replay(P)
    group = replay(f"{P}.add_argument_group", "training", on=parser)
    replay("argparse._ArgumentGroup.add_argument", "--batch-size", on=group, default=32)
    replay(f"{P}.set_defaults", on=parser, batch_size=64, command="train")
    assert replay(f"{P}.get_default", "batch_size", on=parser).data == 64
    assert plain(replay(f"{P}.parse_args", on=parser)) == {"batch_size": 64, "command": "train"}


def test_only_the_chosen_command_counts() -> None:
    replay = Replay("--seed 1 train --lr 0.5 x")
    parser = replay(P)
    replay(f"{P}.add_argument", "--seed", on=parser, type=INT)
    commands = replay(f"{P}.add_subparsers", on=parser, dest="command")
    for name, lr in (("train", 0.1), ("test", 0.2)):
        below = replay("argparse._SubParsersAction.add_parser", name, on=commands)
        replay(f"{P}.add_argument", "--lr", on=below, type=FLOAT, default=lr)
        replay(f"{P}.add_argument", f"{name}_data", on=below)
    found = plain(replay(f"{P}.parse_args", on=parser))
    assert found == {"seed": 1, "command": "train", "lr": 0.5, "train_data": "x"}


def test_a_list_in_the_code_is_not_the_command_line() -> None:
    replay = Replay("--epochs 5")
    parser = replay(P)
    replay(f"{P}.add_argument", "--epochs", on=parser, type=INT, default=1)
    assert plain(replay(f"{P}.parse_args", value(["--epochs", "7"], 42), on=parser))["epochs"] == 7
    assert replay.said("epochs") == (7, "code", 42)


def test_an_instance_of_a_subclass_is_a_parser_too() -> None:
    replay = Replay("--epochs 5")
    own = Value(Table(kind="MyParser", complete=False))
    assert replay(P, on=own) is own
    replay(f"{P}.add_argument", "--epochs", on=own, type=INT)
    assert plain(replay(f"{P}.parse_args", on=own)) == {"epochs": 5}


def test_a_library_s_own_options_are_taken_as_they_stand() -> None:
    replay = Replay("--gpus 4 --lr 1 --precision 16")
    parser = replay(P)
    replay(f"{P}.add_argument", "--lr", on=parser, type=FLOAT)
    parser = replay("pytorch_lightning.Trainer.add_argparse_args", parser)
    found, _ = replay(f"{P}.parse_known_args", on=parser).data.items
    assert plain(found) == {"lr": 1.0, "gpus": 4, "precision": 16}
    assert not found.data.complete


def test_a_type_of_the_job_s_own_is_followed_and_else_named() -> None:
    function = LocalFunction(None, None, "str2bool", evidence("train.py", 1, ""))  # type: ignore[arg-type]
    assert namespace("--amp no", ("--amp", {"type": function}))["amp"] is False
    replay = Replay("--amp no", invoked=lambda f, positional, k: value(positional[0].data * 2))
    assert plain(parse(replay, ("--amp", {"type": function})))["amp"] == "nono"


def test_configargparse_reads_the_file_that_an_option_names() -> None:
    replay = Replay("-c c.yaml --lr 0.5", configs={"c.yaml": "lr: 0.1\nbatch-size: 8"})
    name = "configargparse.ArgParser"
    parser = replay(name)
    replay(f"{P}.add_argument", "-c", "--config", on=parser, is_config_file=True)
    replay(f"{P}.add_argument", "--batch-size", on=parser, type=INT, default=1)
    replay(f"{P}.add_argument", "--lr", on=parser, type=FLOAT)
    replay(f"{P}.parse_args", on=parser)
    assert replay.said("batch_size")[:2] == (8, "config")
    assert replay.said("lr")[:2] == (0.5, "cli")


def test_suppressed_defaults_are_no_parts() -> None:
    assert namespace("", ("--x", {"default": Dotted("argparse.SUPPRESS")})) == {}


def test_words_in_a_file(tmp_path) -> None:
    code = """
    import argparse
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--lr")
    parser.parse_args()
    """
    files = {"train.py": code, "args.txt": "# mine\n--epochs 3\n--lr=1\n"}
    found = job(tmp_path, "train.py @args.txt --lr 2", files)
    assert found.said("epochs") == (3, "config", "args.txt:2")
    assert found.said("lr")[0] == "2"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=8), max_size=8))
def test_no_command_line_is_too_strange(texts) -> None:
    replay = Replay([Word(text) for text in texts])
    parse(replay, ("--epochs", "-e", {"nargs": "*", "type": INT}), ("data", {"nargs": "?"}))
    assert {"epochs", "data"} <= set(replay.options)


def test_an_abbreviation_may_be_an_option_that_nobody_has_seen() -> None:
    replay = Replay("--num-layers 24")
    found = parse(replay, ("--num-layers-per-stage", {"type": INT}))
    assert plain(found) == {"num_layers_per_stage": 24, "num_layers": 24}
    replay = Replay("--num-layers 24")
    parser = replay(P)
    replay(f"{P}.add_argument", "--num-layers-per-stage", on=parser, type=INT)
    replay("deepspeed.add_config_arguments", parser)
    found = plain(replay(f"{P}.parse_args", on=parser))
    assert found == {"num_layers_per_stage": None, "num_layers": 24}


def test_dotted_options_are_reached_part_by_part() -> None:
    replay = Replay("--optim.lr 0.5 --cfg c.yaml", configs={"c.yaml": "optim: {lr: 1, wd: 2}"})
    parser = replay("jsonargparse.ArgumentParser")
    replay(f"{P}.add_argument", "--optim.lr", on=parser, type=FLOAT, default=0.1)
    action = Dotted("jsonargparse.ActionConfigFile")
    replay(f"{P}.add_argument", "--cfg", on=parser, action=action)
    found = plain(replay(f"{P}.parse_args", on=parser))
    assert found["optim"] == {"lr": 0.5, "wd": 2}
    assert replay.said("optim.lr")[:2] == (0.5, "cli")
    assert replay.said("optim.wd")[:2] == (2, "config")
