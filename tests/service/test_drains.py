"""Nodes are drained once, by those who may, and never where somebody else has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from schedmate.model import Action, NodeState
from schedmate.schedulers.base import Rights
from schedmate.service.actions import Actions
from schedmate.testing.scheduler import FakeScheduler

DRAIN = Action(kind="drain", job_id="", attempt=0, why="suspect", value=7.0, node="n1")


@dataclass
class Site(FakeScheduler):
    administers: bool = True
    node_states: dict = field(
        default_factory=lambda: {"n1": NodeState(name="n1", condition="up", state="idle")}
    )

    def rights(self):
        return Rights(everyone=True, role="operator", administers=self.administers)


def drained(site, store, mode="act"):
    actions = Actions(site, store, mode)
    actions.carry_out(DRAIN, 1.0)
    actions.finish_interrupted(2.0)
    return [(one.state, one.note) for one in store.actions()]


def test_it_is_drained_with_our_reason_and_read_back(store):
    site = Site()
    assert drained(site, store) == [("done", "")]
    assert site.node_states["n1"].reason == "schedmate: suspect"


@pytest.mark.parametrize(
    ("mode", "administers"), [("observe", True), ("assist", True), ("act", False)]
)
def test_it_takes_the_mode_and_the_right(store, mode, administers):
    site = Site(administers=administers)
    assert drained(site, store, mode) == [("observed", "")]
    assert site.calls == []


def test_another_ones_drain_stays(store):
    site = Site()
    site.node_states["n1"] = replace(site.node_states["n1"], condition="drain", reason="disk")
    [(state, note)] = drained(site, store)
    assert (state, site.calls, site.node_states["n1"].reason) == ("failed", [], "disk")
    assert "already" in note


def test_a_node_that_an_operator_resumed_is_not_drained_again_for_the_same(store):
    site = Site()
    drained(site, store)
    site.node_states["n1"] = NodeState(name="n1", condition="up")
    drained(site, store)
    assert site.calls == [("drain", "n1")]


def test_a_drain_that_a_crash_interrupted_is_not_made_later(store):
    site = Site()
    store.intend(DRAIN, at=1.0)
    Actions(site, store, "act").finish_interrupted(2.0)
    assert site.calls == []
    assert [one.note for one in store.actions()] == ["interrupted; it is not drained"]
