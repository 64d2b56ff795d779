"""Whose name a model has, whose layers count, which lines a person would quote."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.settle.model_names import model_name
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request, Workload

NETWORK = """\
import torch
from torch import nn
class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
"""
MADE = """\
def main():
    model = Captioner()
    {between}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        loss = model(torch.rand(4)).sum()
        loss.backward()
        clip_1(model)
        clip_2(model)
        clip_3(model)
        clip_4(model)
        optimizer.step()
if __name__ == "__main__":
    main()
"""


def record(directory: Path, files: dict[str, str], command: str = "python train.py") -> Workload:
    for name, text in files.items():
        (directory / name).write_text(text)
    target = Target.from_command(directory, shlex.split(command))
    understood, _ = understand(resolve(target), target.files, Request())
    return understood.workload


def lines(finding: Any, file: str = "train.py") -> set[int]:
    return {each.line for each in finding.evidence if each.file == file}


def test_the_loop_the_step_and_the_model_are_quoted(tmp_path):
    found = record(tmp_path, {"train.py": NETWORK + MADE.format(between="pass")})
    assert {1, 13, 18} <= lines(found.framework)
    assert {8, 13} <= lines(found.resumes)
    assert {7, 19} <= lines(found.entry_point)


def test_a_value_of_the_command_line_is_quoted_where_it_is_used_too(tmp_path):
    code = """\
import argparse
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int)
args = parser.parse_args()
loader = DataLoader(load(), batch_size=args.size, shuffle=True)
"""
    found = record(tmp_path, {"train.py": code}, "python train.py --size 16")
    assert found.batch_size is not None
    assert found.batch_size.value == 16
    assert found.batch_size.evidence[0].file == "<command>"
    assert lines(found.batch_size) == {6}


@pytest.mark.parametrize(
    "between",
    [
        'eyes, prepare = clip.load("ViT-B/32")\n    eyes.eval()',
        'eyes = timm.create_model("resnet50")\n    eyes.eval()',
    ],
)
def test_an_encoder_that_is_only_asked_is_not_the_model(tmp_path, between):
    code = "import clip, timm\n" + NETWORK + MADE.format(between=between)
    found = record(tmp_path, {"train.py": code})
    assert found.model is not None
    assert found.model.value == "Captioner"


def test_a_tokenizer_behind_a_collator_is_not_the_model(tmp_path):
    code = """\
from transformers import DataCollatorForLanguageModeling, LlamaConfig, LlamaForCausalLM
from transformers import PreTrainedTokenizerFast
tokenizer = PreTrainedTokenizerFast.from_pretrained("tokenizers/words_1M")
model = LlamaForCausalLM(LlamaConfig(hidden_size=64))
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
"""
    found = record(tmp_path, {"train.py": code})
    assert found.model is not None
    assert found.model.value == "llama"


def test_what_writes_over_its_output_looks_for_no_checkpoint_there(tmp_path):
    code = """\
import os
from transformers import HfArgumentParser, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint
(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
last = None
if os.path.isdir(args.output_dir) and not args.overwrite_output_dir:
    last = get_last_checkpoint(args.output_dir)
checkpoint = None
if args.resume_from_checkpoint is not None:
    checkpoint = args.resume_from_checkpoint
elif last is not None:
    checkpoint = last
Trainer(model=model, args=args).train(resume_from_checkpoint=checkpoint)
"""
    command = "python train.py --output_dir out --overwrite_output_dir"
    found = record(tmp_path, {"train.py": code}, command)
    assert found.resumes is not None
    assert found.resumes.value is False


def test_the_latest_checkpoint_of_a_manager_is_taken_up(tmp_path):
    code = """\
import tensorflow as tf
optimizer = tf.keras.optimizers.Adam(1e-3)
checkpoint = tf.train.Checkpoint(optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "out", max_to_keep=3)
if manager.latest_checkpoint:
    checkpoint.restore(manager.latest_checkpoint)
for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = step()
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    manager.save()
"""
    found = record(tmp_path, {"train.py": code})
    assert found.resumes is not None
    assert found.resumes.value is True


def test_the_layers_of_what_judges_are_not_the_model_s(tmp_path):
    code = """\
import torch
from torch import nn
PARAMS = {"netD_params": {"n_layers": 2}}
class PatchDiscriminator(nn.Module):
    def __init__(self, n_layers=5):
        super().__init__()
        self.n_layers = n_layers
judge = PatchDiscriminator(**PARAMS["netD_params"])
"""
    assert record(tmp_path, {"train.py": code}).n_layer is None


def test_an_accelerator_alone_trains_nothing(tmp_path):
    code = """\
import torch
from accelerate import Accelerator
accelerator = Accelerator()
model = torch.load("final.pt")
print(model(torch.rand(4)))
"""
    found = record(tmp_path, {"evaluate.py": code}, "python evaluate.py")
    assert found.task is not None
    assert found.task.value == "evaluation"


def test_a_training_that_nothing_points_to_is_of_no_kind(tmp_path):
    found = record(
        tmp_path,
        {
            "train.py": NETWORK.replace("Captioner", "Field")
            + MADE.format(between="pass").replace("Captioner", "Field")
        },
    )
    assert found.task is not None
    assert (found.task.value, found.task.confidence) == ("other", 0.4)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/path/to/data", "/path/to/data"),
        ("/home/alice/reviews", "reviews"),
        ("/scratch/alice/reviews/train.csv", "reviews"),
        ("/fs/scratch/PAS1/alice/cells/data.h5", "cells"),
        ("/scratch/imagenet", "imagenet"),
    ],
)
def test_neither_a_placeholder_nor_a_user_is_a_data_set(path, name):
    assert dataset_name(path) == name


def test_a_placeholder_is_no_model():
    assert model_name("/path/to/model") == "/path/to/model"
