"""A correction is kept in the row of the diagnosis that it replaces, and goes with it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from schedmate.model import Diagnosis
from schedmate.model.wire import from_json, to_json
from schedmate.store.bodies import dumps, without_nul

_KEY = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCorrection:
    """That a person corrected the diagnosis of an attempt, and what it was before."""

    by: str
    at: float
    for_all: bool
    """It was taught: the same failure of other jobs is answered so as well."""
    before: Diagnosis
    """As it was before the first correction."""
    taught: Diagnosis | None = None
    """What was corrected for all, where this attempt alone was corrected since."""


def corrected_body(diagnosis: Diagnosis, correction: KeptCorrection | None) -> str:
    """Who reads a diagnosis alone leaves the correction out."""
    if correction is None:
        return dumps(diagnosis)
    body = {**to_json(diagnosis), _KEY: to_json(correction)}
    return without_nul(json.dumps(body, ensure_ascii=False, separators=(",", ":")))


def correction_in(body: str) -> KeptCorrection | None:
    found = json.loads(body).get(_KEY)
    return None if found is None else from_json(KeptCorrection, found)
