"""No reader of the PyTorch family raises, whatever a trace holds."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.frameworks.families import PYTORCH_FAMILY
from advisor.frameworks.traces import at, reading
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Binding, Loop
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Call,
    Dotted,
    LibraryObject,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.settle.claim import Claim

CALLEES = (
    "torch.utils.data.DataLoader",
    "torch.utils.data.BatchSampler",
    "webdataset.WebDataset.batched",
    "torch.optim.AdamW",
    "torch.optim.Optimizer",
    "torch.optim.SGD.step",
    "torch.optim.SGD.load_state_dict",
    "torch.distributed.optim.ZeroRedundancyOptimizer",
    "timm.optim.create_optimizer_v2",
    "timm.create_model",
    "torch.autocast",
    "apex.amp.initialize",
    "torch.nn.Module.to",
    "torch.nn.LSTM",
    "torch.nn.Embedding",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.DataParallel",
    "torch.distributed.init_process_group",
    "torch.save",
    "torch.load",
    "os.path.exists",
    "torchvision.datasets.CIFAR10",
    "torchvision.models.resnet50",
    "datasets.load_dataset",
    "transformers.GPT2Config",
    "transformers.AutoModel.from_pretrained",
    "transformers.AutoModel.from_config",
    "transformers.TrainingArguments",
    "transformers.Trainer",
    "transformers.Trainer.train",
    "lightning.Trainer",
    "lightning.Trainer.fit",
    "lightning.pytorch.callbacks.ModelCheckpoint",
    "accelerate.Accelerator",
    "deepspeed.initialize",
    "mmengine.runner.Runner.from_cfg",
    "detectron2.engine.DefaultTrainer",
    "ultralytics.YOLO.train",
    "fastai.vision.all.vision_learner.fit",
    "composer.Trainer",
    "stable_baselines3.PPO.learn",
    "?.step",
    "",
    ".",
)
NAMES = [
    "batch_size",
    "lr",
    "params",
    "dataset",
    "optimizer_class",
    "dtype",
    "enabled",
    "f",
    "args",
    "cfg",
    "config",
    "max_steps",
    "path",
    "num_train_epochs",
    "deepspeed",
    "fsdp",
    "precision",
    "strategy",
    "stage",
    "callbacks",
    "plugins",
    "max_duration",
    "save_interval",
    "data",
    "epochs",
    "batch",
    "every_n_epochs",
    "num_layers",
    "hidden_size",
    "zero_optimization",
    "SOLVER",
    "IMS_PER_BATCH",
    "train_cfg",
    "num_gpus",
    "train_samples",
    "global_batch_size",
    "micro_batch_size",
    "train_iters",
    "seq_length",
    "num_attention_heads",
    "tensor_model_parallel_size",
    "arch",
    "max_tokens",
    "update_freq",
    "criterion",
    "max_update",
    "dirpath",
    "ckpt_path",
    "resume_from_checkpoint",
    "auto_resume",
]
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 10**400, 0.0, math.inf, -math.inf, math.nan, 1e308]),
    st.sampled_from(["", "auto", "none", "10ep", "\0", "../..", "O1", "é" * 9, "a/b.pt", "1"]),
)
values = st.recursive(
    st.one_of(
        plain.map(lambda data: Value(data, (at(),))),
        st.just(UNKNOWN),
        st.sampled_from(CALLEES).map(lambda name: Value(Dotted(name))),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Value(Sequence(items))),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=4).map(
            lambda parts: Value(Table(parts))
        ),
        st.tuples(st.sampled_from(CALLEES), inner).map(
            lambda one: Value(LibraryObject(Call(callee=one[0], positional=(one[1],), line=at())))
        ),
    ),
    max_leaves=6,
)
calls = st.builds(
    Call,
    callee=st.sampled_from(CALLEES),
    positional=st.lists(values, max_size=3).map(tuple),
    keywords=st.dictionaries(st.sampled_from(NAMES), values, max_size=5),
    line=st.just(at(3)),
    reached=st.sampled_from(Reached),
    target=st.sampled_from(["", "train_loader", "optimizer", "model"]),
    within=st.sampled_from(["", "train", "Lit.configure_optimizers", "."]),
    loops=st.sampled_from([(), (0,), (0, 1), (99,)]),
    every=st.one_of(st.none(), values),
    receiver=st.one_of(st.none(), values),
)
loops = st.builds(
    Loop,
    kind=st.sampled_from(["for", "while", "break"]),
    variable=st.sampled_from(["epoch", "step", "_", "", "self.step", "micro_step"]),
    bound=st.one_of(st.none(), values),
    line=st.just(at(2, "for epoch in range(1, n + 1):")),
)
bindings = st.builds(
    Binding,
    name=st.sampled_from([*NAMES, "allow_tf32"]),
    value=values,
    where=st.sampled_from(["attribute", "keyword", "local"]),
    line=st.just(at(4)),
    of=st.sampled_from(["", "DiT.__init__"]),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(calls, max_size=8),
    st.lists(loops, max_size=3),
    st.lists(bindings, max_size=5),
    st.dictionaries(st.sampled_from(NAMES), values, max_size=8),
)
def test_every_trace_is_answered(some, rounds, names, options):
    read = reading(*some, loops=rounds, bindings=names, options=options)
    for reader in PYTORCH_FAMILY:
        assert all(isinstance(each, Claim) for each in reader(read)), reader
