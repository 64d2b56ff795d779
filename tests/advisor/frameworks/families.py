"""Frameworks as readers of code alone, whether or not anything of them is in sight."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reader, Reading
from schedmate.advisor.frameworks.claims import READERS
from schedmate.advisor.frameworks.drivers import frameworks
from schedmate.advisor.frameworks.index import SIGNS
from schedmate.advisor.frameworks.own_data import own_datasets
from schedmate.advisor.frameworks.own_models import own_models
from schedmate.advisor.frameworks.starting_over import starting_over
from schedmate.advisor.frameworks.tasks import tasks
from schedmate.advisor.settle.claim import Claim

_ANY = (frameworks, tasks, own_models, own_datasets, starting_over)
_OTHERS = ("keras", "tensorflow", "jax", "boosting", "vllm")


def by_calls(module: str) -> Reader:
    signs = next(each for each in SIGNS if each.module == module)

    def reader(reading: Reading) -> Iterator[Claim]:
        return signs.load().claims(reading, started=False, own_code=signs.own_code)

    return reader


_MODULES = dict.fromkeys(signs.module for signs in SIGNS if signs.module)
PYTORCH_FAMILY: tuple[Reader, ...] = (
    *(reader for reader in READERS if reader not in _ANY),
    *(by_calls(module) for module in _MODULES if module not in _OTHERS),
)
OTHER_FAMILIES: tuple[Reader, ...] = (*_ANY, *(by_calls(module) for module in _OTHERS))
