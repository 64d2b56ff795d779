# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Formats of machine learning and data work, written by a hand that never saw the learner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from bench.corpora.unknown_formats.labels import Line, Truth

START = datetime(2024, 5, 3, 22, 41, 7, tzinfo=UTC)


def fall(r: Random, i: int) -> float:
    return 2.4 / (1 + 0.03 * i) + 0.2 + abs(r.gauss(0, 0.02))


def clock(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def nested(outer: int, outers: int, inner: int, inners: int) -> tuple[Truth, ...]:
    """The outer loop, the inner loop, or both together."""
    whole = (outer - 1) * inners + inner
    return (outer, outers), (inner, inners), (whole, outers * inners), (whole / inners, outers)


def actor_frames(r: Random) -> Iterator[Line]:
    yield "[actor-0] connected to learner at 10.1.4.17:6006"
    for i in range(1, 181):
        yield (
            f"[actor-{r.randint(0, 7)}] frames {i * 25600}/5000000 | ret {r.gauss(i / 4, 9):.1f} | eps {max(0.05, 1 - i / 150):.2f} | fps {r.randint(2900, 3300)}",
            (i * 25600, 5000000),
        )


def every_rank_reports(r: Random) -> Iterator[Line]:
    for i in range(20, 3000, 20):
        for rank in sorted(range(4), key=lambda _: r.random()):
            stamp = clock(i * 0.8 + rank / 10).isoformat(timespec="milliseconds")
            yield (
                f"[rank{rank}]: {stamp} INFO it {i} (of 6000) ce={fall(r, i // 20):.4f}",
                (i, 6000),
            )


def french_nested(r: Random) -> Iterator[Line]:
    for epoch in range(1, 51):
        for lot in range(10, 41, 10):
            loss = f"{fall(r, epoch):.3f}".replace(".", ",")
            yield (
                f"Époque {epoch} sur 50 — lot {lot} sur 40 — perte {loss}",
                *nested(epoch, 50, lot, 40),
            )
        yield f"  validation : exactitude {r.uniform(60, 90):.1f} %".replace(".", ",")


def german_thousands(r: Random) -> Iterator[Line]:
    for i in range(250, 20001, 250):
        text = f"Schritt {i:,} von 20,000".replace(",", ".")
        loss = f"Verlust {fall(r, i // 250):.4f} | Dauer {r.uniform(11, 13):.1f} s".replace(
            ".", ","
        )
        yield f"{text} | {loss}", (i, 20000)


def spanish_percentage(r: Random) -> Iterator[Line]:
    for i in range(10, 2001, 10):
        share = f"{i / 20:.1f}".replace(".", ",")
        yield (
            f"Progreso: {share} % - muestra {i}, tiempo {r.uniform(3, 4):.2f} s",
            (i / 20, 100),
            (i / 20, None),
            (i, 2000),
            (i, None),
        )


def chinese_rounds(r: Random) -> Iterator[Line]:
    yield "加载数据完成,共 48213 条样本"
    for i in range(1, 201):
        yield (
            f"第 {i} 轮 / 共 200 轮,损失 {fall(r, i):.4f},用时 {r.uniform(30, 33):.1f} 秒",
            (i, 200),
        )
        if i % 10 == 0:
            yield f"验证集准确率:{r.uniform(0.6, 0.9):.4f}"


def russian_epochs(r: Random) -> Iterator[Line]:
    for i in range(1, 81):
        stamp = clock(i * 47).strftime("%d.%m.%Y %H:%M:%S")
        yield (
            f"{stamp}  эпоха {i} из 80, ошибка {fall(r, i):.4f}, точность {r.uniform(0.7, 0.9):.3f}",
            (i, 80),
        )


def trials_to_go(r: Random) -> Iterator[Line]:
    best = 0.7
    for i in range(1, 101):
        value = r.uniform(0.65, 0.86)
        best = max(best, value)
        yield (
            f"trial finished: auc={value:.4f} best={best:.4f} params={{'lr': {r.uniform(1e-4, 1e-2):.5f}, 'depth': {r.randint(3, 9)}}} ({i} done, {100 - i} to go)",
            (i, 100),
        )


def chunks_left(r: Random) -> Iterator[Line]:
    yield "┌ Info: queue filled"
    yield "└ 5000 chunks to convert on 16 workers"
    for left in range(4980, 0, -20):
        yield f"remaining: {left} chunks, {r.uniform(40, 44):.1f} chunks/s", (5000 - left, 5000)


def rows_committed(r: Random) -> Iterator[Line]:
    for i in range(1, 193):
        stamp = clock(i * 9).strftime("%Y-%m-%d %H:%M:%S") + f",{r.randint(0, 999):03}"
        rows = i * 250_000
        yield (
            f"{stamp} - etl.load - INFO - committed {rows:,} of 48,000,000 rows ({rows / 480_000:.1f}%)",
            (rows, 48_000_000),
        )
        if r.random() < 0.08:
            yield f"{stamp} - etl.load - WARNING - {r.randint(2, 40)} rows with null customer_id skipped"


def done_and_todo(r: Random) -> Iterator[Line]:
    done = 0
    for i in range(130):
        done = min(400, done + r.randint(2, 4))
        yield (
            f"{clock(i * 15):%H:%M:%S} stage=transform done={done} todo={400 - done} failed=0",
            (done, 400),
        )


def json_events(r: Random) -> Iterator[Line]:
    for i in range(20, 5001, 20):
        event = {
            "ts": round(1714770000 + i * 1.3 + r.random(), 3),
            "event": "train",
            "iter": i,
            "max_iter": 5000,
            "loss": round(fall(r, i // 20), 5),
            "grad_norm": round(r.uniform(0.4, 1.9), 3),
        }
        yield json.dumps(event), (i, 5000)
        if i % 500 == 0:
            yield json.dumps({"ts": event["ts"], "event": "eval", "top1": round(r.random(), 4)})


def logfmt_batches(r: Random) -> Iterator[Line]:
    for i in range(1, 351):
        yield (
            f'level=info ts={clock(i * 2):%Y-%m-%dT%H:%M:%SZ} caller=ingest.go:114 msg="batch processed" batch={i} batches=350 dur={r.uniform(0.9, 1.4):.3f}s',
            (i, 350),
        )


def comma_separated_epochs(r: Random) -> Iterator[Line]:
    yield "epoch,epochs,train_loss,val_loss,val_acc,seconds"
    for i in range(60):
        yield (
            f"{i},60,{fall(r, i):.5f},{fall(r, i) + 0.05:.5f},{r.uniform(0.5, 0.9):.4f},{r.uniform(88, 93):.1f}",
            (i, 60),
            (i + 1, 60),
        )


def status_block(r: Random) -> Iterator[Line]:
    for i in range(10, 1001, 10):
        yield "-" * 44
        yield f"| iteration          | {i:>18} |", (i, 1000)
        yield f"| total iterations   | {1000:>18} |"
        yield f"| time elapsed (s)   | {int(i * 7.3):>18} |"
        yield f"| mean reward        | {r.gauss(i / 9, 6):>18.2f} |"
        yield f"| policy entropy     | {r.uniform(0.5, 1.4):>18.4f} |"
        yield "-" * 44


def coloured_epochs(r: Random) -> Iterator[Line]:
    for i in range(1, 91):
        yield (
            f"\x1b[1;36m▶ epoch\x1b[0m \x1b[33m{i:02}\x1b[0m/\x1b[33m90\x1b[0m  train \x1b[32m{fall(r, i):.4f}\x1b[0m  val \x1b[35m{fall(r, i) + 0.1:.4f}\x1b[0m",
            (i, 90),
        )
        if r.random() < 0.2:
            yield "\x1b[90m  ✔ new best, checkpoint written\x1b[0m"


def endless_denoiser(r: Random) -> Iterator[Line]:
    for i in range(0, 40000, 100):
        yield (
            f"step {i:06}: mse {fall(r, i // 100) / 20:.6f}, ema {fall(r, i // 100) / 21:.6f}",
            (i, None),
        )
        if i % 2000 == 1000:
            yield f"  wrote 16 samples to samples/{i:06}.png"
        if r.random() < 0.03:
            yield "/opt/env/lib/python3.11/site-packages/torch/amp.py:263: UserWarning: found inf in gradients"


def labelled_pool(r: Random) -> Iterator[Line]:
    yield "Active learning: 40 rounds, 50 queries each"
    for i in range(1, 41):
        yield (
            f"Round {i}: {i * 50}/2000 labels bought, test acc {r.uniform(0.5, 0.9):.3f}",
            (i, 40),
            (i * 50, 2000),
        )
        yield f"   retrained in {r.uniform(20, 30):.1f} s; entropy of the pool {r.uniform(0.3, 0.9):.3f}"


def folds_and_epochs(r: Random) -> Iterator[Line]:
    for fold in range(1, 6):
        for i in range(1, 61):
            yield (
                f"fold {fold}/5 epoch {i}/60 loss={fall(r, i):.4f} auc={r.uniform(0.7, 0.9):.3f}",
                *nested(fold, 5, i, 60),
            )
        yield f"== fold {fold} finished, out-of-fold auc {r.uniform(0.8, 0.9):.4f}"


def arguments_first(r: Random) -> Iterator[Line]:
    yield "Namespace(batch_size=64, data='/scratch/corpus', lr=0.0003, num_updates=1500, seed=42, warmup=100)"
    yield "parameters: 124439808"
    for i in range(5, 1501, 5):
        yield (
            f"upd {i}: nll {fall(r, i // 5):.4f} ppl {r.uniform(20, 40):.2f} {r.randint(51, 56)}k tok/s",
            (i, 1500),
        )
        if i % 100 == 0:
            yield f"dev: nll {fall(r, i // 5):.4f}, 812/1000 answers exact"


FORMATS = (
    actor_frames,
    every_rank_reports,
    french_nested,
    german_thousands,
    spanish_percentage,
    chinese_rounds,
    russian_epochs,
    trials_to_go,
    chunks_left,
    rows_committed,
    done_and_todo,
    json_events,
    logfmt_batches,
    comma_separated_epochs,
    status_block,
    coloured_epochs,
    endless_denoiser,
    labelled_pool,
    folds_and_epochs,
    arguments_first,
)
