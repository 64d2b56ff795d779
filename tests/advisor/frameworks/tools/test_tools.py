"""What all tools have in common, and the configs of how a job runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.frameworks.tools.runs import run_of
from advisor.options.configs.job_files import JobFiles
from schedmate.advisor.frameworks.tools import (
    TOOLS,
    accelerate_config,
    deepspeed_config,
    needs_no_code,
    tool_for,
)
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import read
from schedmate.advisor.sources.files import SourceFile
from schedmate.model import Workload

STARTS = [
    ("llamafactory-cli", None),
    ("axolotl", None),
    ("-m axolotl.cli.train", None),
    ("trl", None),
    ("swift", None),
    ("megatron", None),
    ("tune", None),
    ("yolo", None),
    ("fairseq-train", None),
    ("fairseq-hydra-train", None),
    ("-m torchtitan.train", None),
    ("litgpt", None),
    ("-m MaxText.train", None),
    ("-m maxtext.trainers.post_train.sft.train_sft", None),
    ("-m openrlhf.cli.train_dpo", None),
    ("-m verl.trainer.main_ppo", None),
    ("xtuner", None),
    ("nemo", None),
    ("tools/train.py", "from mmengine.runner import Runner"),
    ("train/train.py", "import llmfoundry"),
    ("main.py", "LightningCLI("),
]


def config(text: str, name: str = "c.json") -> Value:
    value = read(SourceFile(name, text))
    assert value is not None
    return value


def data(found: Any) -> dict[str, Any]:
    return {each.field: each.value.data for each in found}


def test_a_deepspeed_config_says_nothing_where_it_is_auto():
    text = (
        '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": "auto",'
        ' "fp16": {"enabled": "auto"}, "bf16": {"enabled": true},'
        ' "optimizer": {"type": "AdamW", "params": {"lr": "auto"}},'
        ' "zero_optimization": {"stage": 2}}'
    )
    assert data(deepspeed_config(config(text))) == {
        "batch_size": 4,
        "precision": "bf16",
        "optimizer": "AdamW",
        "parallelism": "zero2",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "distributed_type: MULTI_GPU\nmixed_precision: fp16\n",
            {"parallelism": "ddp", "precision": "fp16"},
        ),
        ("distributed_type: FSDP\nmixed_precision: 'no'\n", {"parallelism": "fsdp"}),
        (
            "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 3}\n",
            {"parallelism": "zero3"},
        ),
        (
            "distributed_type: DEEPSPEED\ndeepspeed_config: {deepspeed_config_file: d.json}\n",
            {"parallelism": "zero1"},
        ),
        ("deepspeed_config: {gradient_accumulation_steps: 4}\n", {"gradient_accumulation": 4}),
        ("distributed_type: 'NO'\ngradient_accumulation_steps: auto\n", {}),
    ],
)
def test_accelerate_configs(text: str, expected: dict[str, Any]):
    context = JobFiles({"d.json": '{"zero_optimization": {"stage": 1}}'})
    found = accelerate_config(config(text, "a.yaml"), context.read_config)
    assert data(found) == expected


@pytest.mark.parametrize(("start", "source"), STARTS)
def test_every_tool_is_found_by_how_it_is_started(start: str, source: str | None):
    assert tool_for(run_of(start, source)) is not None


@pytest.mark.parametrize(
    ("start", "command"),
    [
        ("src/axolotl/cli/train.py", ""),
        ("src/llamafactory/cli.py", "llamafactory-cli"),
        ("torchtune/_cli/tune.py", "/opt/bin/tune"),
        ("litgpt/litgpt/__main__.py", "litgpt"),
        ("a/b/openrlhf/cli/train_sft.py", ""),
    ],
)
def test_a_tool_in_a_copy_of_its_code_is_the_tool_itself(start: str, command: str):
    run = run_of(start, "import os\n")
    run = replace(run, command=Word(command or start))
    assert tool_for(run) is not None
    assert needs_no_code(run)


def test_a_file_that_only_looks_like_a_tool_still_has_code_of_its_own():
    long = "from torchtitan.config import JobConfig\n" + "loss.backward()\n" * 100
    for name, source in (("train.py", long), ("main.py", "cli = LightningCLI(Net)\n")):
        run = run_of(name, source)
        assert tool_for(run) is not None
        assert not needs_no_code(run)


def test_a_few_lines_that_start_a_tool_are_the_tool():
    assert needs_no_code(run_of("src/train.py", "from llamafactory.train.tuner import run_exp\n"))


def test_every_tool_is_tried_here():
    found = {tool_for(run_of(start, source)) for start, source in STARTS}
    assert found == {known.tool for known in TOOLS}


@pytest.mark.parametrize(
    ("start", "source"),
    [
        ("train.py", "import torch"),
        ("-m mypackage.train", None),
        ("train.py", None),
        ("-m torchtitanic.train", None),
        ("-m maxtext.trainers.pre_train.train_compile", None),
    ],
)
def test_a_job_with_code_of_its_own_is_no_tool(start: str, source: str | None):
    assert tool_for(run_of(start, source)) is None


_SETTINGS = [
    "lr",
    "train",
    "dataset",
    "model",
    "optimizer",
    "deepspeed",
    "fsdp",
    "datasets",
    "task",
    "optimization.lr",
    "trainer.callbacks",
    "config",
    "cfg",
    "device",
    "_base_",
    "fp16",
]
_WORDS = st.sampled_from(
    [
        "train",
        "run",
        "sft",
        "fit",
        "pretrain",
        "finetune_lora",
        "c.yaml",
        "gone.yaml",
        "c.py",
        "--",
        "-",
        "=",
        "-1",
        "--config",
        "--flag",
        "x",
        "[1,2]",
        "{",
        "../../etc/passwd",
        "--job.config_file",
    ]
) | st.builds(
    "{}={}".format, st.sampled_from(_SETTINGS), st.sampled_from(["1", "[1]", "{a:1}", "x"])
)


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(STARTS),
    st.lists(_WORDS, max_size=8),
    st.dictionaries(
        st.sampled_from(_SETTINGS),
        st.sampled_from(["1", "[]", "[1, {a: 2}]", "{a: {b: 1}}", "null", "x", "c.yaml", "true"]),
    ),
)
def test_no_command_line_and_no_config_makes_a_tool_raise(
    start: tuple[str, str | None], words: list[str], parts: dict[str, str]
):
    text = "\n".join(f"{name}: {value}" for name, value in parts.items())
    context = JobFiles({"c.yaml": text})
    run = run_of(f"{start[0]} {' '.join(map(repr, words))}", start[1])
    tool = tool_for(run)
    assert tool is not None
    for each in tool(run, context):
        assert each.field in Workload.__dataclass_fields__
        assert each.value.plain
        assert each.value.lines
    assert not any(path.startswith("/") for path in context.asked)
