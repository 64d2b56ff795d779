"""How many jobs need at most 45 % of a GPU's memory, and leave it idle."""

from __future__ import annotations

import gzip
import json
from ast import literal_eval
from typing import Any

import numpy as np

from bench.corpora.shares import read_rows
from bench.datasets import data_dir, rows
from bench.proof.proportions import Proportion

MOST = 0.45
_PACE = 0.7
_GPUS_GB = (40, 80)


def print_memory() -> dict[str, Any]:
    print(f"\nat most {MOST:.0%} of a GPU | share (95 %)")
    found = {"asked": _print_asked(), "clusters": _print_clusters()}
    _print_shapes()
    found["pace"] = _print_pace()
    return found


def _print_asked() -> dict[str, Any]:
    """What users of Alibaba's cluster asked for, in thousandths of a GPU."""
    path = data_dir() / "traces" / "alibaba_openb_2023_pods.csv.gz"
    if not path.is_file():
        return {}
    one = [row for row in rows(path) if row["num_gpu"] == "1"]
    kinds = {
        "one-GPU pods": one,
        "of these best effort": [row for row in one if row["qos"] == "BE"],
        "of these latency-sensitive": [row for row in one if row["qos"] == "LS"],
    }
    found = {}
    for kind, pods in kinds.items():
        proportion = Proportion(
            sum(int(row["gpu_milli"]) <= 1000 * MOST for row in pods), len(pods)
        )
        found[kind] = proportion.as_json()
        print(f"Alibaba 2023, asked, {kind} | {proportion}")
    return found


def _print_clusters() -> dict[str, Any]:
    """Of GPUs in use over time. How busy they are is known beside their memory, not together with
    it: so many at most have memory in use and are busy half of the time or less."""
    found = {}
    for row in read_rows("profiles.jsonl"):
        if "memory_unused" not in row:
            print(f"{row['name']} | {_listed(row)}")
            continue
        used = 1 - row["memory_unused"]
        little = row["memory_up_to_45"] / used
        calm = row["busy_up_to_1"] + row["busy_1_to_50"] - row["memory_unused"]
        idle = min(max(calm, 0.0) / used, little)
        found[row["name"]] = {"memory": little, "memory_and_idle_at_most": idle}
        print(f"{row['name']} | {little:.1%} by memory; and busy half the time: {idle:.1%} at most")
    return found


def _listed(row: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in row.items()
        if name not in ("name", "source")
    )


def _print_shapes() -> None:
    """Weights, gradients and optimiser states alone: what activations add is not known."""
    sizes = np.array(
        [
            row["parameters"] * row["bytes_per_parameter"] / 2**30
            for row in read_rows("shapes.jsonl")
        ]
    )
    for memory in _GPUS_GB:
        proportion = Proportion(int((sizes <= MOST * memory).sum()), len(sizes))
        print(f"states of the sampled jobs' models on {memory} GB, at most | {proportion}")
    quarter, half, most = np.quantile(sizes, (0.25, 0.5, 0.75))
    print(f"  states in GB: quartiles {quarter:.2f}, {half:.2f}, {most:.2f}")


def _print_pace() -> dict[str, float]:
    """Gavel's measured pairs of one-GPU jobs: how many keep their pace."""
    path = data_dir() / "profiles" / "gavel_simulation_throughputs.json.gz"
    if not path.is_file():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        measured = json.load(file)
    found = {}
    for gpu in ("v100", "p100", "k80"):
        paces = np.array(_pairs(measured[gpu]))
        kept = paces.min(axis=1) >= _PACE
        mean = float(paces[kept].mean()) if kept.any() else 0.0
        found[gpu] = float(kept.mean())
        print(
            f"Gavel's pairs on {gpu}: both keep {_PACE:g} of their pace | "
            f"{Proportion(int(kept.sum()), len(kept))}, their mean {mean:.2f}"
        )
    return found


def _pairs(of: dict[str, Any]) -> list[tuple[float, float]]:
    """Paces beside each other over those alone; a pair that did not run keeps nothing."""
    alone = {name: each["null"] for name, each in of.items() if literal_eval(name)[1] == 1}
    return [
        (rates[0] / alone[name], rates[1] / alone[other])
        for name, each in of.items()
        if name in alone
        for other, rates in each.items()
        if other in alone and name <= other and alone[name] and alone[other]
    ]
