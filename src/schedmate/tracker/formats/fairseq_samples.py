"""Lines of fairseq, after its documented formats."""

from __future__ import annotations

from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import Sample, Sighting

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "2020-01-01 12:00:00 | INFO | train_inner | epoch 002:    100 / 4000 loss=5.3,"
        " nll_loss=4.1, ppl=17.1, wps=25000, ups=3.25, wpb=7692, bsz=256,"
        " num_updates=4100, lr=0.0005, gnorm=1.5, train_wall=30, wall=1300",
        Sighting(
            unit="step",
            current=100,
            total=4000,
            series="epoch",
            epoch=2,
            per_epoch=True,
            elapsed_s=1300,
            rate_per_s=3.25,
            metrics={
                "loss": 5.3,
                "nll_loss": 4.1,
                "ppl": 17.1,
                "tokens_per_s": 25000.0,
                "wpb": 7692.0,
                "bsz": 256.0,
                "lr": 0.0005,
                "grad_norm": 1.5,
            },
        ),
    ),
    Sample(
        "| epoch 001:    100 / 4000 loss=9.25, wps=1000, ups=0, num_updates=101, wall=35",
        Sighting(
            unit="step",
            current=100,
            total=4000,
            series="epoch",
            epoch=1,
            per_epoch=True,
            elapsed_s=35,
            metrics={"loss": 9.25, "tokens_per_s": 1000.0},
        ),
    ),
    Sample(
        '2020-01-01 12:00:00 | INFO | train_inner | {"epoch": 1, "update": 0.025,'
        ' "loss": "5.3", "wps": "25000", "ups": "3.2", "num_updates": "100", "lr": "1e-05",'
        ' "gnorm": "1.5", "train_wall": "30", "wall": "35"}',
        Sighting(
            unit="step",
            current=100,
            series="num_updates",
            epoch=1,
            elapsed_s=35,
            rate_per_s=3.2,
            metrics={"loss": 5.3, "tokens_per_s": 25000.0, "lr": 1e-05, "grad_norm": 1.5},
        ),
    ),
    Sample(
        '2020-01-01 12:00:00 | INFO | valid | {"epoch": 1, "valid_loss": "4.25",'
        ' "valid_wps": "9000", "valid_num_updates": "4000", "valid_best_loss": "4.25"}',
        Sighting(epoch=1, metrics={"valid_loss": 4.25, "valid_best_loss": 4.25}),
    ),
    Sample(
        "2020-01-01 12:00:00 | INFO | train | epoch 001 | loss 5.5 | wps 25000 | ups 3.2 |"
        " num_updates 4000 | lr 0.0005 | gnorm 1.5 | train_wall 1200 | wall 1300",
        Sighting(
            unit="epoch",
            current=1,
            series="epochs",
            ordinal="ended",
            epoch=1,
            elapsed_s=1300,
            metrics={"loss": 5.5, "tokens_per_s": 25000.0, "lr": 0.0005, "grad_norm": 1.5},
        ),
    ),
    Sample(
        "2020-01-01 12:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset |"
        " loss 4.25 | ppl 5.75 | wps 9000 | num_updates 4000 | best_loss 4.25",
        Sighting(epoch=1, metrics={"valid_loss": 4.25, "valid_ppl": 5.75, "valid_best_loss": 4.25}),
    ),
    Sample(
        "| epoch 001 | valid on 'valid' subset | valid_loss 8.125 | num_updates 600",
        Sighting(epoch=1, metrics={"valid_loss": 8.125}),
    ),
    Sample(
        "2020-01-01 12:00:00 | INFO | fairseq_cli.train | end of epoch 1 (average epoch"
        " stats below)",
        Sighting(unit="epoch", current=1, series="epochs", ordinal="ended", epoch=1),
    ),
    Sample(
        '2020-01-01 12:00:00 | INFO | fairseq_cli.train | begin validation on "valid" subset',
        Sighting(phase="evaluating"),
    ),
    Sample(
        "2020-01-01 12:00:00 | INFO | fairseq.checkpoint_utils | Saved checkpoint"
        " out/checkpoint1.pt (epoch 1 @ 4000 updates, score 4.25) (writing took 2.5 seconds)",
        Sighting(checkpoint=Checkpoint(path="out/checkpoint1.pt", step=4000)),
    ),
    Sample(
        "INFO | fairseq.checkpoint_utils | Preparing to save checkpoint for epoch 1 @ 4000 updates",
        Sighting(checkpoint=Checkpoint(step=4000), phase="checkpointing"),
    ),
    Sample(
        "| INFO | fairseq_cli.train | Stopping training due to num_updates: 4000 >="
        " max_update: 4000",
        Sighting(ended_by="total"),
    ),
    Sample(
        "Stopping training due to cumulative_training_time: 3.01 > stop_time_hours: 3 hour(s)",
        Sighting(ended_by="cap"),
    ),
    Sample(
        "| early stop since valid performance hasn't improved for last 10 runs",
        Sighting(ended_by="early_stop"),
    ),
    Sample(
        "2020-01-01 12:00:00 | INFO | fairseq_cli.train | done training in 123.4 seconds",
        Sighting(phase="finished", elapsed_s=123.4),
    ),
    Sample(
        "| INFO | fairseq_cli.train | {'optimization': {'max_epoch': 0, 'max_update': 4000,"
        " 'stop_time_hours': 2.0, 'clip_norm': 0.1}}",
        Sighting(unit="step", total=4000, cap_s=7200),
    ),
    Sample(
        "Namespace(lr=[0.1], max_epoch=30, max_update=0, seed=1)",
        Sighting(unit="epoch", total=30),
    ),
    Sample("Namespace(max_epoch=0, max_update=0)", None),
    Sample("epoch 001: 100 / 4000", None),
    Sample("| epoch 001:   4001 / 4000 loss=1, num_updates=4001", None),
    Sample('| train_inner | {"num_updates": "x"}', None),
    Sample('| train_inner | {"num_updates": {"a": ' + "[" * 3000 + "}", None),
    Sample("num_updates " + "epoch 001 | " * 10_000, None),
    Sample("max_update " * 10_000, None),
)
