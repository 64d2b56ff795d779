"""Idioms of PyTorch, on traces put together by hand."""

from __future__ import annotations

import pytest

from advisor.frameworks.traces import loop, made, named, reading, said, sayings, thing, val
from schedmate.advisor.frameworks.batches import loader_batches
from schedmate.advisor.frameworks.loops import accumulation, training_loops
from schedmate.advisor.frameworks.optimizers import optimizers
from schedmate.advisor.frameworks.parallelism import torch_parallelism
from schedmate.advisor.frameworks.precision import torch_precision
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import UNKNOWN

LOADER = "torch.utils.data.DataLoader"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"_target": "val_loader"}, {"_target": "train_loader"}),
        ({"_target": "a"}, {"_target": "b", "shuffle": True}),
        ({"_within": "Data.val_dataloader"}, {"_within": "Data.train_dataloader"}),
        ({"_target": "loader", "_reached": Reached.UNDECIDED}, {"_target": "loader"}),
    ],
)
def test_of_two_loaders_the_training_s_counts(first, second):
    test = made(LOADER, named("x"), batch_size=1000, **first)
    train = made(LOADER, named("x"), batch_size=64, **second)
    assert said(loader_batches, reading(test, train)) == {"batch_size": 64}
    assert said(loader_batches, reading(train, test)) == {"batch_size": 64}


def test_a_split_of_the_dataset_tells_which_loader_trains():
    train = thing(made("torchvision.datasets.MNIST", "data", train=True))
    test = thing(made("torchvision.datasets.MNIST", "data", train=False))
    calls = [made(LOADER, test, 1000), made(LOADER, train, 64)]
    assert said(loader_batches, reading(*calls)) == {"batch_size": 64}


def test_batches_of_a_batch_sampler_or_a_pipeline():
    sampler = thing(made("torch.utils.data.BatchSampler", named("s"), 24, True))
    assert said(loader_batches, reading(made(LOADER, named("x"), batch_sampler=sampler))) == {
        "batch_size": 24
    }
    batched = thing(made("webdataset.WebDataset.batched", 48))
    assert said(loader_batches, reading(made(LOADER, batched, batch_size=None))) == {
        "batch_size": 48
    }


def test_an_unknown_batch_says_nothing():
    assert said(loader_batches, reading(made(LOADER, named("x"), batch_size=UNKNOWN))) == {}


def test_optimizers_by_class_rate_by_argument_group_or_place():
    adam = made("torch.optim.AdamW", named("p"), lr=3e-4)
    assert said(optimizers, reading(adam)) == {"optimizer": "AdamW", "learning_rate": 3e-4}
    grouped = made("torch.optim.SGD", [{"params": 1, "lr": 0.1}, {"params": 2, "lr": 0.1}])
    assert said(optimizers, reading(grouped)) == {"optimizer": "SGD", "learning_rate": 0.1}
    placed = made("apex.optimizers.FusedLAMB", named("p"), 0.002)
    assert said(optimizers, reading(placed)) == {"optimizer": "FusedLAMB", "learning_rate": 0.002}


def test_schedules_and_other_worlds_are_no_optimizers():
    calls = [
        made("torch.optim.lr_scheduler.StepLR", named("o"), 30),
        made("optax.adam", 0.1),
        made("tensorflow.keras.optimizers.Adam", 0.1),
    ]
    assert said(optimizers, reading(*calls)) == {}


def test_rates_that_differ_are_not_chosen_between_but_a_plain_name_wins():
    actor = made("torch.optim.Adam", named("p"), lr=3e-4, _target="actor_opt")
    critic = made("torch.optim.Adam", named("p"), lr=1e-3, _target="critic_opt")
    assert said(optimizers, reading(actor, critic)) == {"optimizer": "Adam"}
    main = made("torch.optim.SGD", named("p"), lr=0.1, _target="optimizer")
    assert said(optimizers, reading(actor, main)) == {"optimizer": "SGD", "learning_rate": 0.1}


def test_autocast_beats_tf32_and_its_default_is_half():
    tf32 = made("torch.set_float32_matmul_precision", "high")
    assert said(torch_precision, reading(tf32)) == {"precision": "tf32"}
    bf16 = made("torch.autocast", "cuda", dtype=named("torch.bfloat16"))
    assert said(torch_precision, reading(tf32, bf16)) == {"precision": "bfloat16"}
    assert said(torch_precision, reading(made("torch.cuda.amp.autocast"))) == {"precision": "fp16"}


def test_autocast_that_is_off_says_nothing():
    off = made("torch.cuda.amp.autocast", enabled=False)
    assert said(torch_precision, reading(off)) == {}


def test_a_choice_of_wrappings_is_settled_by_the_launcher():
    ddp = made("torch.nn.parallel.DistributedDataParallel", named("m"), _reached=Reached.UNDECIDED)
    dp = made("torch.nn.DataParallel", named("m"), _reached=Reached.UNDECIDED)
    assert said(torch_parallelism, reading(ddp, dp)) == {}
    found = sayings(torch_parallelism, reading(ddp, dp, launchers=("torchrun",)))
    assert [(each.value.data, each.certain) for each in found] == [("ddp", True)]


def test_tensor_and_pipeline_together_are_three_dimensions():
    calls = [
        made("torch.distributed.tensor.parallel.parallelize_module", named("m")),
        made("torch.distributed.pipelining.PipelineStage", named("m")),
        made("torch.distributed.fsdp.fully_shard", named("m")),
    ]
    assert said(torch_parallelism, reading(*calls)) == {"parallelism": "3d"}


def step(*loops: int, **about):
    return made("torch.optim.SGD.step", _loops=loops, **about)


def test_loops_around_the_step_tell_epochs_from_steps():
    epochs = [loop("epoch", 90), loop("batch", None, inside=1)]
    assert said(training_loops, reading(step(0, 1), loops=epochs)) == {"epochs": 90}
    steps = [loop("iter_num", 600000, kind="while")]
    assert said(training_loops, reading(step(0), loops=steps)) == {"max_steps": 600000}
    sampling = [loop("step", 50), loop("epoch", 3)]
    assert said(training_loops, reading(step(1), loops=sampling)) == {"epochs": 3}


def test_passes_over_one_rollout_are_no_epochs():
    loops = [loop("iteration", 488), loop("epoch", 4, inside=1), loop("start", 4, inside=2)]
    assert said(training_loops, reading(step(0, 1, 2), loops=loops)) == {}


def test_a_loop_without_a_name_goes_by_its_words():
    loops = [loop("_", 12, text="for _ in range(args.num_epochs):")]
    assert said(training_loops, reading(step(0), loops=loops)) == {"epochs": 12}


def test_micro_steps_and_every_nth_step_accumulate():
    micro = [loop("iter_num", 10), loop("micro_step", 40, inside=1)]
    assert said(accumulation, reading(step(0), loops=micro)) == {"gradient_accumulation": 40}
    assert said(accumulation, reading(step(_every=val(8)))) == {"gradient_accumulation": 8}
