"""mutmut on a share of the mutants it would make, in this directory: a part of bench.suite.mutants.

Apart, because it must not load the package whose mutants it tries.
"""

from __future__ import annotations

import random
import sys
from typing import Any
from unittest import mock

from mutmut.__main__ import cli
from mutmut.mutation import file_mutation


def sample_mutants(share: float, seed: int) -> None:
    """Runs mutmut on this share of the mutants it would make, in the current directory."""
    create_all = file_mutation.create_mutations

    def create_some(filename: str, *rest: Any) -> tuple[Any, ...]:
        module, mutations, *others = create_all(filename, *rest)
        chance = random.Random(f"{seed} {filename}")
        kept = [one for one in mutations if chance.random() < share and not _is_prose(one)]
        return (module, kept, *others)

    with mock.patch.object(file_mutation, "create_mutations", create_some):
        cli(["run"], standalone_mode=False)


def _is_prose(mutation: Any) -> bool:
    return " " in getattr(mutation.original_node, "raw_value", "")


if __name__ == "__main__":
    sample_mutants(float(sys.argv[1]), int(sys.argv[2]))
