"""The advice benchmark: its cases are in order, and the advisor does well on the own ones."""

from collections import Counter

import pytest

from bench.accuracy.advice_score import score_record
from bench.corpora import advice_cases
from schedmate.advisor import Advisor
from schedmate.testing.history import MemoryHistory

pytestmark = pytest.mark.slow

OWN = advice_cases.read_cases(advice_cases.OWN)
PUBLIC = advice_cases.read_cases(advice_cases.PUBLIC, advice_cases.BLIND)


@pytest.fixture(scope="module")
def scored():
    found = []
    for case in OWN:
        memory = MemoryHistory()
        advised = Advisor(memory, memory).advise(case.label.target(case.files))
        found += score_record(case, advised.advice.workload)
    return found


def test_there_are_enough_jobs():
    assert len(OWN) >= 40
    assert len(OWN) + len(PUBLIC) >= 60


def test_names_are_given_once():
    names = Counter(case.name for case in (*OWN, *PUBLIC))
    assert max(names.values()) == 1


def _places(case):
    """The lines of its files that a label names."""
    directory = case.files / case.label.directory
    for expected in case.label.expected.values():
        for place in expected.at:
            name, _, line = place.rpartition(":")
            if not name.startswith("<"):
                yield place, int(line), directory / name


def test_lines_of_an_own_job_are_there():
    places = [(case.name, *place) for case in OWN for place in _places(case)]

    beyond = [
        (case, place)
        for case, place, line, file in places
        if line > len(file.read_text().splitlines())
    ]

    assert places
    assert beyond == []


def test_a_public_job_names_its_commit():
    unnamed = [
        case.name
        for case in PUBLIC
        if len(case.label.commit) != 40 or case.label.repository.count("/") != 1
    ]

    assert PUBLIC
    assert unnamed == []


def test_most_of_what_is_stated_is_read_and_little_is_invented(scored):
    count = Counter(score.verdict for score in scored)
    stated = count["right"] + count["wrong"] + count["missing"]
    faults = [f"{score.case}: {score.field} {score.verdict}" for score in scored]
    assert count["right"] >= 0.93 * stated, faults
    assert count["wrong"] <= 0.02 * stated
    assert count["invented"] <= 0.02 * (count["invented"] + count["absent"])


def test_evidence_is_where_it_should_be(scored):
    right = [score for score in scored if score.verdict == "right"]
    assert sum(score.shown for score in right) >= 0.95 * len(right)
