"""What every framework keeps to; its samples are its tests."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.advisor import Target
from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.contract import Framework, Sample
from schedmate.advisor.frameworks.index import SIGNS, in_sight, needs_no_code, started_by
from schedmate.advisor.frameworks.signs import Signs
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.understand.reading import read_code
from schedmate.model import Workload

FRAMEWORKS = {signs.module: signs for signs in SIGNS if signs.module}
SAMPLES = [
    pytest.param(signs, sample, id=f"{module}-{number}")
    for module, signs in FRAMEWORKS.items()
    for number, sample in enumerate(signs.load().samples)
]


def run_of(command: str, files: dict[str, str], directory: Path) -> tuple[PythonRun, Reading]:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    target = Target.from_command(directory, shlex.split(command))
    launch = resolve(target)
    found = read_code(launch, target.files)
    assert found is not None, command
    return found[0].run, found[0]


def claims_of(signs: Signs, reading: Reading) -> list[Claim]:
    started = started_by(reading.run) is signs
    return list(signs.load().claims(reading, started=started, own_code=signs.own_code))


@pytest.mark.parametrize(("signs", "sample"), SAMPLES)
def test_a_sample_gives_its_claims_and_no_others(signs: Signs, sample: Sample, tmp_path: Path):
    run, reading = run_of(sample.command, dict(sample.files), tmp_path)
    found = claims_of(signs, reading)

    stated: dict[str, Any] = {}
    for each in found:
        stated.setdefault(each.field, each.value.data)
    assert stated == dict(sample.claims)
    assert {each.field for each in found} <= {*Workload.__dataclass_fields__}
    packages = frozenset(each.name.partition(".")[0] for each in reading.trace.imports)
    assert signs.module in {each.module for each, _ in in_sight(run, packages)}


@pytest.mark.parametrize(("signs", "sample"), SAMPLES)
def test_every_claim_of_a_config_or_a_command_line_has_its_line(
    signs: Signs, sample: Sample, tmp_path: Path
):
    _, reading = run_of(sample.command, dict(sample.files), tmp_path)

    assert all(each.value.lines or each.line for each in claims_of(signs, reading))


def test_every_table_has_a_sample():
    without = [
        module
        for module, signs in FRAMEWORKS.items()
        if signs.load().settings and not signs.load().samples
    ]

    assert without == []


def test_every_field_of_a_table_is_one_of_the_record():
    unknown = [
        (module, name)
        for module, signs in FRAMEWORKS.items()
        for name in signs.load().settings
        if name not in Workload.__dataclass_fields__
    ]

    assert unknown == []


def test_every_module_with_a_framework_is_in_the_index():
    modules = Path(__file__).parents[3] / "src/schedmate/advisor/frameworks"
    with_one = {path.stem for path in modules.glob("*.py") if "\nFRAMEWORK = " in path.read_text()}

    assert with_one == {*FRAMEWORKS}


def test_a_program_is_known_by_its_name_its_module_and_the_file_of_that(tmp_path: Path):
    starts = {
        "llamafactory-cli train x.yaml": "llamafactory",
        "axolotl train c.yml": "axolotl",
        "python -m axolotl.cli.train c.yml": "axolotl",
        "tune run x": "torchtune",
        "megatron sft": "swift",
        "python -m torchtitan.train": "torchtitan",
        "python src/axolotl/cli/train.py": "axolotl",
        "python a/b/openrlhf/cli/train_sft.py": "openrlhf",
    }
    files = {"src/axolotl/cli/train.py": "", "a/b/openrlhf/cli/train_sft.py": ""}
    for command, name in starts.items():
        run, _ = run_of(command, files, tmp_path)
        signs = started_by(run)
        assert signs is not None, command
        assert signs.name == name
        assert needs_no_code(run), command


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("python train.py", "import torch\n"),
        ("python -m mypackage.train", ""),
        ("python -m torchtitanic.train", ""),
        ("python -m maxtext.trainers.pre_train.train_compile", ""),
    ],
)
def test_a_job_with_code_of_its_own_is_no_framework(command: str, code: str, tmp_path: Path):
    run, _ = run_of(command, {"train.py": code}, tmp_path)

    assert started_by(run) is None


def test_a_file_that_only_looks_like_a_starter_still_has_code_of_its_own(tmp_path: Path):
    long = "from torchtitan.config import JobConfig\n" + "loss.backward()\n" * 100
    for code in (long, "cli = LightningCLI(Net)\n"):
        run, _ = run_of("python train.py", {"train.py": code}, tmp_path)
        assert started_by(run) is not None
        assert not needs_no_code(run)
    run, _ = run_of("python train.py", {"train.py": long[:40]}, tmp_path)
    assert needs_no_code(run)


def test_nothing_is_loaded_that_is_not_in_sight(tmp_path: Path):
    run, _ = run_of("python train.py", {"train.py": "import torch\n"}, tmp_path)

    assert {signs.module for signs, _ in in_sight(run, frozenset({"torch"}))} == {
        "fairseq",
        "megatron",
    }


NAMES = (
    *("lr", "train", "dataset", "model", "optimizer", "deepspeed", "fsdp", "datasets", "task"),
    *("optimization.lr", "trainer.callbacks", "config", "cfg", "device", "_base_", "fp16"),
)
WORDS = st.sampled_from(
    (
        *("train", "run", "sft", "fit", "pretrain", "finetune_lora", "c.yaml", "gone.yaml", "c.py"),
        *("--", "-", "=", "-1", "--config", "--flag", "x", "[1,2]", "{", "../../etc/passwd"),
        *("--job.config_file", "llm"),
    )
) | st.builds("{}={}".format, st.sampled_from(NAMES), st.sampled_from(["1", "[1]", "{a:1}", "x"]))
VALUES = st.sampled_from(["1", "[]", "[1, {a: 2}]", "{a: {b: 1}}", "null", "x", "c.yaml", "true"])


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, max_size=8), st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_no_command_line_and_no_config_makes_a_framework_raise(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], parts: dict[str, str]
):
    text = "\n".join(f"{name}: {value}" for name, value in parts.items())
    directory = tmp_path_factory.mktemp("job")
    run, reading = run_of("python train.py", {"train.py": "", "c.yaml": text}, directory)
    given_words = tuple(Word(word, run.command.evidence) for word in words)
    reading = replace(reading, run=replace(run, arguments=given_words))

    for signs in FRAMEWORKS.values():
        framework: Framework = signs.load()
        for each in framework.claims(reading, started=True):
            assert each.field in Workload.__dataclass_fields__
