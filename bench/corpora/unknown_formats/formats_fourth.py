# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Formats written last; the learner was not changed for any of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.labels import Line


def score(r: Random, i: int) -> float:
    return 6 * 0.98**i + 0.8 + r.gauss(0, 0.04)


def dutch(r: Random) -> Iterator[Line]:
    for i in range(1, 121):
        yield f"ronde {i} van 120, fout {score(r, i):.4f}", (i, 120)


def turkish_percent(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"ilerleme: %{i} hata: {score(r, i):.4f}", (i, 100), (i, None)


def markdown_table(r: Random) -> Iterator[Line]:
    yield "| upd | train | held-out | s/upd |"
    yield "|----:|------:|---------:|------:|"
    for i in range(1, 151):
        yield (
            f"| {i * 8} | {score(r, i):.4f} | {score(r, i) + 0.1:.4f} | {r.uniform(0.2, 0.3):.2f} |",
            (
                i * 8,
                None,
            ),
        )


def tab_separated_with_total(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"{i}\t250\t{score(r, i):.5f}\t{r.random():.4f}", (i, 250)


def colon_dict(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"{{'n': {i * 100}, 'of': 20000, 'nll': {score(r, i):.4f}}}",
            (i * 100, 20000),
            (
                i * 100,
                None,
            ),
        )


def count_at_the_end(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"cost {score(r, i):.4f} gnorm {r.uniform(0.5, 2):.2f} ({i * 6} / 1200)",
            (i * 6, 1200),
        )


def stars(r: Random) -> Iterator[Line]:
    for i in range(1, 91):
        yield (
            f"*** {i:>3} *** train {score(r, i):.3f} *** dev {score(r, i) + 0.05:.3f} ***",
            (i, None),
        )


def seconds_and_count(r: Random) -> Iterator[Line]:
    at = 0.0
    for i in range(1, 200):
        at += r.uniform(1.5, 2.5)
        yield f"[{at:8.2f}] k={i * 12:6d} f={score(r, i):.6e} |g|={1 / i:.2e}", (i * 12, None)


def minutes_of_sim(r: Random) -> Iterator[Line]:
    for i in range(1, 241):
        yield (
            f"simulated {i * 0.25:.2f} of 60.00 min, {r.randint(900, 999)} agents alive",
            (
                i * 0.25,
                60,
            ),
        )


def queue_drains(r: Random) -> Iterator[Line]:
    for i in range(1, 180):
        yield f"queue: {720 - i * 4} left", (i * 4, 720)


def ok_and_failed(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"{i}/1200 urls, {i // 9} failed, {r.uniform(20, 30):.1f} url/s", (i, 1200)


def nested_three(r: Random) -> Iterator[Line]:
    for stage in range(1, 4):
        for e in range(1, 6):
            for b in range(10, 101, 10):
                yield (
                    f"stage {stage}/3 ep {e}/5 it {b}/100 l {score(r, e * 10):.3f}",
                    (b, 100),
                    (e, 5),
                    (
                        stage,
                        3,
                    ),
                )


def trap_image_size(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"{i}: 640x640 {r.randint(1, 9)} boxes, {score(r, i):.3f}", (i, None)


def trap_learning_schedule(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"upd {i} warm 2000 lr {i / 2000 * 3e-4:.3e} c {score(r, i):.4f}", (i, None)


def trap_tokens_constant(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"{i:>6} tokens/batch 524288 ce {score(r, i):.4f}", (i, None)


def trap_best_so_far(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"gen {i}: best 950 mean {r.uniform(300, 400):.1f} size 200", (i, None)


def shard_names(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"tokenised s3://b/{r.randbytes(3).hex()}/part.jsonl ({i} of 400 shards, {r.randint(100, 900)} MB)",
            (
                i,
                400,
            ),
        )


def ranks_interleaved(r: Random) -> Iterator[Line]:
    for i in range(1, 150):
        for rank in r.sample(range(4), 4):
            yield f"r{rank}: mb {i * 4}/1600 ce {score(r, i):.3f}", (i * 4, 1600)


def comma_decimal_words(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield (
            f"Nach {i * 30} Schritten (Ziel: 3000): Verlust {score(r, i):.3f}",
            (i * 30, 3000),
            (
                i * 30,
                None,
            ),
        )


def dotted_leader(r: Random) -> Iterator[Line]:
    for i in range(1, 120):
        yield f"field {i} ........ {score(r, i):.4f} ... {i}/360", (i, 360), (i, None)


FORMATS = (
    dutch, turkish_percent, markdown_table, tab_separated_with_total, colon_dict, count_at_the_end,
    stars, seconds_and_count, minutes_of_sim, queue_drains, ok_and_failed, nested_three,
    trap_image_size, trap_learning_schedule, trap_tokens_constant, trap_best_so_far, shard_names,
    ranks_interleaved, comma_decimal_words, dotted_leader,
)  # fmt: skip


def ssh_log(r: Random) -> Iterator[Line]:
    for _ in range(120):
        yield f"sshd[{r.randint(1000, 9000)}]: Failed password from 10.{r.randint(0, 9)}.3.4 port {r.randint(1024, 65000)}"


def cron(r: Random) -> Iterator[Line]:
    for i in range(120):
        yield f"Nov {1 + i // 24} {i % 24:02d}:17:01 cron[{r.randint(100, 999)}]: run-parts ok in {r.randint(1, 9)} ms"


def ticket_numbers(r: Random) -> Iterator[Line]:
    number = 70_000
    for _ in range(120):
        number += r.randint(1, 3)
        yield f"ticket {number} closed by agent {r.randint(1, 9)} after {r.uniform(1, 90):.0f} h"


def cache_statistics(r: Random) -> Iterator[Line]:
    hits = 0
    for _ in range(120):
        hits += r.randint(50, 150)
        yield f"cache hits {hits} misses {r.randint(1, 40)} ratio {r.uniform(0.9, 0.99):.3f} capacity 100000"


def weather(r: Random) -> Iterator[Line]:
    for _ in range(120):
        yield f"station {r.randint(1, 9)}: {r.gauss(12, 3):.1f} C, {r.randint(0, 360)} deg, {r.uniform(0, 9):.1f} m/s"


SILENT = (ssh_log, cron, ticket_numbers, cache_statistics, weather)
