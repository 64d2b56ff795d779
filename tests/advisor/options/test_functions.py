"""click, typer, fire, absl, sacred: functions whose parameters are options."""

from __future__ import annotations

import pytest

from advisor.options.interpreting import job
from schedmate.advisor.interpret.shell import Word

CLICK = """
    import click
    from lib import library

    @click.command()
    @click.argument("data", type=click.Path(exists=True))
    @click.option("--epochs", "-e", default=3, show_default=True)
    @click.option("--lr", type=float, default=0.1, envvar="LR")
    @click.option("--amp/--no-amp", default=True)
    @click.option("--fast", is_flag=True)
    @click.option("--layer", multiple=True, type=int)
    def main(data, epochs, lr, amp, fast, layer):
        library(data=data, epochs=epochs, lr=lr, amp=amp, fast=fast, layer=layer)

    if __name__ == "__main__":
        main()
    """


def test_click_s_options_are_the_function_s_arguments(tmp_path) -> None:
    run = job(
        tmp_path,
        "t.py corpus -e 5 --no-amp --layer 1 --layer 2",
        {"t.py": CLICK},
        environment={"LR": Word("0.3")},
    )
    assert run.told("lib.library") == {
        "data": "corpus",
        "epochs": 5,
        "lr": 0.3,
        "amp": False,
        "fast": False,
        "layer": [1, 2],
    }
    assert run.said("epochs")[1] == "cli"


def test_click_s_defaults_have_their_own_lines(tmp_path) -> None:
    run = job(tmp_path, "t.py corpus", {"t.py": CLICK})
    assert run.said("epochs") == (3, "code", "t.py:6")


def test_only_the_chosen_command_of_a_group_runs(tmp_path) -> None:
    code = """
    import click
    from lib import library

    @click.group()
    @click.option("--seed", default=0)
    def cli(seed):
        pass

    @cli.command()
    @click.option("--lr", default=0.1)
    def train(lr):
        library(lr=lr)

    @cli.command(name="test")
    @click.option("--size", default=1)
    def evaluate(size):
        library(size=size)

    if __name__ == "__main__":
        cli()
    """
    run = job(tmp_path, "t.py --seed 4 train --lr 0.5", {"t.py": code})
    assert run.options == {"seed": 4, "lr": 0.5}
    assert run.told("lib.library") == {"lr": 0.5}


def test_typer_reads_the_signature(tmp_path) -> None:
    code = """
    import typer
    from typing_extensions import Annotated
    from lib import library

    app = typer.Typer()

    @app.command()
    def train(
        data: str,
        epochs: int = 3,
        lr: float = typer.Option(0.1, "--learning-rate", help="x"),
        name: Annotated[str, typer.Option(help="n")] = "run",
        amp: bool = False,
    ):
        library(data=data, epochs=epochs, lr=lr, name=name, amp=amp)

    @app.command()
    def predict(data: str):
        library(data=data)

    if __name__ == "__main__":
        app()
    """
    run = job(tmp_path, "t.py train corpus --epochs 5 --learning-rate 1e-3 --amp", {"t.py": code})
    assert run.told("lib.library") == {
        "data": "corpus",
        "epochs": 5,
        "lr": 0.001,
        "name": "run",
        "amp": True,
    }
    assert run.said("name")[1] == "code"


def test_typer_runs_a_function(tmp_path) -> None:
    code = """
    import typer
    from lib import library

    def main(lr: float = 0.1, steps: int = 7):
        library(lr=lr, steps=steps)

    typer.run(main)
    """
    run = job(tmp_path, "t.py --steps 9", {"t.py": code})
    assert run.told("lib.library") == {"lr": 0.1, "steps": 9}


@pytest.mark.parametrize(
    "kind", ["Annotated[Optional[int], typer.Option()]", "Optional[int]", "int | None"]
)
def test_typer_sees_through_types_around_a_type(tmp_path, kind) -> None:
    code = f"""
    from typing import Annotated, Optional
    import typer
    from lib import library

    def main(steps: {kind} = None):
        library(steps=steps)

    typer.run(main)
    """
    run = job(tmp_path, "t.py --steps 9", {"t.py": code})
    assert run.told("lib.library") == {"steps": 9}


FIRE = """
    import fire
    from lib import library

    def train(model, lr=0.1, layers=(1, 2), **kwargs):
        library(model=model, lr=lr, layers=layers, **kwargs)

    class Program:
        def __init__(self, seed=0):
            self.seed = seed
        def fit(self, epochs=3):
            library(seed=self.seed, epochs=epochs)

    if __name__ == "__main__":
        fire.Fire({})
    """


def test_fire_calls_a_function(tmp_path) -> None:
    code = FIRE.format("train")
    run = job(tmp_path, "t.py gpt2 --lr=0.5 --layers [3,4] --extra 1", {"t.py": code})
    told = run.told("lib.library")
    assert told == {"model": "gpt2", "lr": 0.5, "layers": [3, 4], "extra": 1}


def test_fire_calls_a_method_and_an_entry(tmp_path) -> None:
    run = job(tmp_path, "t.py --seed 2 fit --epochs 5", {"t.py": FIRE.format("Program")})
    assert run.told("lib.library") == {"seed": 2, "epochs": 5}
    code = FIRE.format('{"go": train}')
    run = job(tmp_path, "t.py go bert", {"t.py": code})
    assert run.told("lib.library")["model"] == "bert"


def test_absl_flags_in_a_file(tmp_path) -> None:
    code = """
    from absl import app, flags
    flags.DEFINE_integer("batch_size", 64, "")
    flags.DEFINE_float("lr", 1e-3, "")
    flags.DEFINE_bool("eager", True, "")
    """
    files = {"train.py": code, "base.flags": "# all runs\n--batch_size=128\n--lr 7e-4\n--noeager\n"}
    found = job(tmp_path, "train.py --flagfile=base.flags --lr=0.1", files)
    assert found.said("batch_size") == (128, "config", "base.flags:2")
    assert found.said("lr")[:2] == (0.1, "cli")
    assert found.said("eager")[0] is False


def test_absl_flags(tmp_path) -> None:
    code = """
    from absl import app, flags
    from lib import library

    FLAGS = flags.FLAGS
    flags.DEFINE_integer("epochs", 3, "help")
    flags.DEFINE_bool("amp", True, "help")
    _LR = flags.DEFINE_float("lr", 0.1, "help")

    def main(argv):
        if len(argv) > 1:
            raise app.UsageError("no")
        library(epochs=FLAGS.epochs, amp=FLAGS.amp, lr=_LR.value)

    if __name__ == "__main__":
        app.run(main)
    """
    run = job(tmp_path, "t.py --epochs=7 --noamp", {"t.py": code})
    assert run.told("lib.library") == {"epochs": 7, "amp": False, "lr": 0.1}
    assert run.said("lr") == (0.1, "code", "t.py:7")


def test_sacred_settings_and_with(tmp_path) -> None:
    code = """
    from sacred import Experiment
    from lib import library

    ex = Experiment("x")

    @ex.config
    def config():
        lr = 0.1
        epochs = 3

    @ex.automain
    def main(lr, epochs):
        library(lr=lr, epochs=epochs)
    """
    run = job(tmp_path, "t.py with epochs=9", {"t.py": code})
    assert run.told("lib.library") == {"lr": 0.1, "epochs": 9}
    assert run.said("lr") == (0.1, "code", "t.py:8")


def test_a_function_that_hides_the_module_it_comes_from(tmp_path) -> None:
    code = """
    import argparse
    from engine import launch
    from lib import library

    def main(args):
        library(lr=args.lr)

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    launch(main, args=(parser.parse_args(),))
    """
    files = {
        "t.py": code,
        "engine/__init__.py": "from .launch import *\n",
        "engine/launch.py": "def launch(function, args):\n    function(*args)\n",
    }
    assert job(tmp_path, "t.py --lr 0.5", files).told("lib.library") == {"lr": 0.5}
