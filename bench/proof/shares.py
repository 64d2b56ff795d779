"""The shares on which knowledge with levers rests: what resumes, what is doomed, what may share.

    python -m bench.proof.shares                     # tables with sources and 95 % intervals
    python -m bench.proof.shares --clones DIR        # and what the advisor says of the same jobs
    python -m bench.proof.shares --json shares.json  # and the summary, for simulations

Labels and facts are in bench/corpora/shares, with where each can be had and at which commit. Traces
and profiles come from SCHEDMATE_DATA; what is not there is left out. A clone is DIR/owner/name or
DIR/owner+name with the commit that the label names. Intervals are Wilson's, those of shares by GPU
hours are bootstrapped over jobs.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from bench.command import command_line, machine
from bench.proof.shares_failing import (
    print_failed_logs,
    print_nan,
    print_published,
    print_traces,
)
from bench.proof.shares_memory import print_memory
from bench.proof.shares_resuming import print_reader, print_resuming


def summarise(
    resuming: dict[str, Any],
    traces: dict[str, dict[str, float]],
    published: dict[str, dict[str, float]],
    memory: dict[str, Any],
) -> dict[str, Any]:
    """What simulations take as measured, each with its bounds."""
    by_itself, by_flag = resuming["yes"], resuming["flag"]
    before_start = [of["submission"] for of in published.values()]
    perhaps = [of["submission"] + of["perhaps"] for of in published.values()]
    shareable = memory["asked"].get("one-GPU pods", {})
    return {
        "schema": "schedmate.shares/1",
        "resumable": {
            "share": by_itself["share"],
            "low": by_itself["low"],
            "high": by_itself["high"],
            "with_a_setting_changed": by_itself["share"] + by_flag["share"],
            "proof": "only after a resume of the same code was seen",
        },
        "shareable": {
            "share": shareable.get("share"),
            "low": shareable.get("low"),
            "high": shareable.get("high"),
            "of": "one-GPU jobs",
        },
        "doomed": {
            name: {
                "failed_jobs": of["failed_jobs"],
                "failed_time": of["failed_time"],
                "repeats_jobs": [of["alike_repeats_jobs"], of["loose_repeats_jobs"]],
                "saved_by_repeats": [of["alike_repeats_time"], of["loose_repeats_time"]],
                "saved_before_the_start": [
                    of["failed_time"] * min(before_start),
                    of["failed_time"] * max(perhaps),
                ],
                "saved_at_most": of["after_minutes_time"],
            }
            for name, of in traces.items()
        },
    }


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--clones", type=Path, help="where clones of the labelled repositories are")
    parser.add_argument("--json", type=Path, help="where the summary goes, instead of the output")
    arguments = parser.parse_args()
    began = time.monotonic()
    print("(i) jobs that resume\n")
    resuming = print_resuming()
    reader = print_reader(arguments.clones) if arguments.clones else None
    print("\n(ii) failed runs, and when it could have been known")
    traces = print_traces()
    print_failed_logs()
    published = print_published()
    print_nan()
    print("\n(iii) jobs that leave most of a GPU")
    memory = print_memory()
    summary = summarise(resuming, traces, published, memory)
    if reader is not None:
        summary["reader"] = reader
    text = json.dumps(summary, indent=1)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    else:
        print(f"\n{text}")
    print(f"\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()
