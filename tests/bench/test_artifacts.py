"""Our policies give what their authors' simulators give, where their jobs can be had."""

from __future__ import annotations

import pytest

from bench.proof.artifacts import compared, figures_of, references
from bench.proof.reference_runs import TRACES

REFERENCES = references()
OWN = ("tiresias-16", "tiresias-12")
"""Their jobs are in the repository."""


def test_every_reference_has_its_trace():
    assert REFERENCES.keys() == TRACES.keys()


@pytest.mark.parametrize("name", OWN)
def test_tiresias_gives_what_its_authors_simulator_gives(name):
    ours, missing = compared(name, REFERENCES[name])

    assert not missing
    assert ours == pytest.approx(figures_of(REFERENCES[name]), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in OWN])
def test_policies_are_within_a_tenth_of_the_reference(name):
    ours, missing = compared(name, REFERENCES[name])
    theirs = figures_of(REFERENCES[name])
    if not ours.keys() & theirs.keys():
        pytest.skip("; ".join(sorted(set(missing))))

    found = {policy: seconds for policy, seconds in ours.items() if policy in theirs}
    assert found == pytest.approx({policy: theirs[policy] for policy in found}, rel=0.1)
