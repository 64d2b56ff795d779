"""Modules of bench/, which is no package: its files import each other by their names."""

import importlib.util
import sys
from pathlib import Path

BENCH = Path(__file__).parents[1] / "bench"


def bench_module(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
