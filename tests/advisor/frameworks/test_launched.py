"""What `accelerate launch` hands to the job, by its options and by its YAML."""

from __future__ import annotations

from dataclasses import replace

from advisor.frameworks.families import by_calls
from advisor.frameworks.traces import at, reading, said
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.launchers.base import Launched

accelerate_launch = by_calls("accelerate")


def launched(configs=None, name="accelerate", **options: str):
    words = {key: Word(text, (at(3, text, "job.sh"),)) for key, text in options.items()}
    read = reading(configs=configs)
    return replace(read, run=replace(read.run, launched=(Launched(name, words),)))


def test_options():
    told = launched(mixed_precision="bf16", multi_gpu="true", gradient_accumulation_steps="4")
    assert said(accelerate_launch, told) == {
        "precision": "bf16",
        "parallelism": "ddp",
        "gradient_accumulation": 4,
    }


def test_the_file_and_what_goes_over_it():
    config = {
        "distributed_type": "DEEPSPEED",
        "mixed_precision": "fp16",
        "deepspeed_config": {"zero_stage": 3, "gradient_accumulation_steps": 2},
    }
    told = launched({"a.yaml": config}, config_file="a.yaml", mixed_precision="bf16")
    assert said(accelerate_launch, told) == {
        "precision": "bf16",
        "parallelism": "zero3",
        "gradient_accumulation": 2,
    }
    sharded = launched({"a.yaml": {"distributed_type": "FSDP"}}, config_file="a.yaml")
    assert said(accelerate_launch, sharded) == {"parallelism": "fsdp"}


def test_one_process_is_not_spread_and_no_precision_says_nothing():
    assert said(accelerate_launch, launched(num_processes="1", mixed_precision="no")) == {}
    assert said(accelerate_launch, launched(name="torchrun", mixed_precision="bf16")) == {}
