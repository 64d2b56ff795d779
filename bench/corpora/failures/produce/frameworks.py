"""Failures as lightning, transformers, accelerate, keras, jax and ray show them."""

from __future__ import annotations

from bench.corpora.failures.produce.making import Job, main

LIGHTNING = """import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 3)

    def training_step(self, batch, n):
        {step}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


data = TensorDataset(torch.randn(160, 8), torch.randint(0, 3, (160,)))
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing={save},
                    log_every_n_steps=1, num_sanity_val_steps=0, detect_anomaly=False)
trainer.fit(Net(), DataLoader(data, 16){more})
"""
LOSS = "return nn.functional.cross_entropy(self.net(batch[0]), batch[1])"
TRANSFORMERS = """import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=100,
                    intermediate_size=32, num_labels=2)
rows = [{{"input_ids": torch.randint(0, 100, (12,)), "labels": torch.tensor({label})}}
        for n in range(64)]
arguments = TrainingArguments("out", per_device_train_batch_size=8, max_steps=30, logging_steps=4,
                              report_to="none", use_cpu=True, save_strategy="no"{arguments})
model = BertForSequenceClassification(config)
{before}
Trainer(model=model, args=arguments, train_dataset=rows{more}).train({train})
"""
KERAS = """import numpy as np
import keras

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
model.compile("adam", {loss})
model.fit(np.random.rand(64, 8), {labels}, epochs=2, batch_size=16, verbose=2{more})
"""
JAX = """import jax
import jax.numpy as jnp

print("devices:", len(jax.devices()), flush=True)


@jax.jit
def update(w, x):
    return w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w)


w = jnp.ones((16, 4))
for step in range(8):
    w = update(w, jnp.ones((32, {width})))
    print(f"step {{step}} norm {{float(jnp.linalg.norm(w)):.4f}}", flush=True)
{after}
"""
_RAY = """import time

import ray

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=True)


@ray.remote
class Worker:
    def train(self, shard):
        print(f"training on shard {shard}")
        return {"loss": 0.3}["accuracy"] if shard == 1 else 1.0


workers = [Worker.remote() for _ in range(2)]
print(ray.get([worker.train.remote(n) for n, worker in enumerate(workers)]))
"""

JOBS = [
    Job(
        name="lightning_batch_index",
        reason="index_error",
        cause=("IndexError: list index out of range",),
        files={
            "train.py": LIGHTNING.format(
                step=LOSS.replace("batch[1]", "batch[1 + n // 6]"), save=False, more=""
            )
        },
    ),
    Job(
        name="lightning_missing_checkpoint",
        reason="file_not_found",
        cause=("Checkpoint file not found", "FileNotFoundError", "Checkpoint at"),
        files={
            "train.py": LIGHTNING.format(step=LOSS, save=True, more=", ckpt_path='runs/last.ckpt'")
        },
    ),
    Job(
        name="lightning_shape",
        reason="shape_mismatch",
        cause=("mat1 and mat2 shapes cannot be multiplied",),
        files={
            "train.py": LIGHTNING.format(
                step=LOSS.replace("batch[0]", "batch[0][:, :7]"), save=False, more=""
            )
        },
    ),
    Job(
        name="lightning_no_grad",
        reason="autograd_error",
        cause=("does not require grad",),
        files={"train.py": LIGHTNING.format(step=LOSS + ".detach()", save=False, more="")},
    ),
    Job(
        name="transformers_label_out_of_range",
        reason="index_error",
        cause=("Target 7 is out of bounds",),
        accept=("data_error", "cuda_assert"),
        files={
            "train.py": TRANSFORMERS.format(
                label="7 if n == 40 else n % 2", arguments="", before="", more="", train=""
            )
        },
    ),
    Job(
        name="transformers_bad_argument",
        reason="type_error",
        cause=("unexpected keyword argument 'evaluation_strategy'",),
        accept=("argument_error",),
        files={
            "train.py": TRANSFORMERS.format(
                label="n % 2",
                arguments=", evaluation_strategy='steps'",
                before="",
                more="",
                train="",
            )
        },
    ),
    Job(
        name="transformers_no_checkpoint",
        reason="file_not_found",
        cause=("No valid checkpoint found in output directory",),
        accept=("value_error",),
        files={
            "train.py": TRANSFORMERS.format(
                label="n % 2", arguments="", before="", more="", train="resume_from_checkpoint=True"
            )
        },
    ),
    Job(
        name="transformers_weights_mismatch",
        reason="checkpoint_mismatch",
        cause=("size mismatch", "mismatched sizes", "ignore_mismatched_sizes"),
        files={
            "train.py": TRANSFORMERS.format(
                label="n % 2",
                arguments="",
                before="model.save_pretrained('old')\n"
                "model = BertForSequenceClassification.from_pretrained('old', vocab_size=300)",
                more="",
                train="",
            )
        },
    ),
    Job(
        name="transformers_nan_callback",
        reason="loss_nan",
        cause=("NaN loss at step",),
        files={
            "train.py": TRANSFORMERS.format(
                label="n % 2",
                arguments=", logging_nan_inf_filter=False",
                before="with torch.no_grad():\n    model.classifier.weight.fill_(float('nan'))\n"
                "from transformers import TrainerCallback\n\n\nclass Stop(TrainerCallback):\n"
                "    def on_log(self, args, state, control, logs=None, **_):\n"
                "        if logs and str(logs.get('loss')) == 'nan':\n"
                "            raise RuntimeError(f'NaN loss at step {state.global_step}')\n",
                more=", callbacks=[Stop()]",
                train="",
            )
        },
    ),
    Job(
        name="keras_shapes",
        reason="shape_mismatch",
        cause=("The size of tensor a (5) must match the size of tensor b (3)",),
        files={"train.py": KERAS.format(loss="'mse'", labels="np.random.rand(64, 5)", more="")},
        accept=("value_error",),
    ),
    Job(
        name="keras_different_lengths",
        reason="data_error",
        cause=("Data cardinality is ambiguous", "same number of samples"),
        accept=("shape_mismatch", "value_error"),
        files={"train.py": KERAS.format(loss="'mse'", labels="np.random.rand(60, 3)", more="")},
    ),
    Job(
        name="keras_terminate_on_nan",
        reason="loss_nan",
        cause=("Invalid loss, terminating training", "loss: nan"),
        files={
            "train.py": KERAS.format(
                loss="'mse'",
                labels="np.full((64, 3), np.nan)",
                more=", callbacks=[keras.callbacks.TerminateOnNaN()]",
            )
            + "raise SystemExit(1)\n"
        },
    ),
    Job(
        name="jax_shapes",
        reason="shape_mismatch",
        cause=("dot_general requires contracting dimensions to have the same shape", "contracting"),
        accept=("type_error",),
        files={"train.py": JAX.format(width=15, after="")},
    ),
    Job(
        name="jax_out_of_memory",
        reason="host_oom",
        cause=("RESOURCE_EXHAUSTED: Out of memory allocating",),
        accept=("gpu_oom",),
        files={
            "train.py": JAX.format(
                width=16, after="big = jnp.ones((400_000, 4_000_000))\nprint(big.sum())"
            )
        },
    ),
    Job(
        name="jax_tracer_bool",
        reason="python_exception",
        cause=("TracerBoolConversionError",),
        accept=("type_error", "compile_error"),
        files={
            "train.py": JAX.format(
                width=16, after="jax.jit(lambda x: 1 if x > 0 else 2)(jnp.float32(3))"
            )
        },
    ),
    Job(
        name="ray_actor_key_error",
        reason="key_error",
        cause=("KeyError: 'accuracy'",),
        files={"train.py": _RAY},
        env={"RAY_USAGE_STATS_ENABLED": "0"},
    ),
]

if __name__ == "__main__":
    main(JOBS)
