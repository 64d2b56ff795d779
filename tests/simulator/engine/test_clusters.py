from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.simulator.engine.cluster import GpuPool, Nodes


def test_a_gang_is_kept_together_on_the_node_it_fills_best():
    nodes = Nodes([8, 4, 8])
    assert nodes.take(3) == ((1, 3),)
    assert nodes.take(2) == ((0, 2),)
    assert nodes.take(6) == ((0, 6),)


def test_a_large_gang_gets_whole_nodes_and_a_part_of_one_more():
    nodes = Nodes([8, 8, 8])
    assert nodes.take(12) == ((0, 8), (1, 4))
    assert nodes.take(12) == ((2, 8), (1, 4))


def test_what_is_scattered_is_not_together():
    nodes = Nodes([8, 8, 8])
    for _ in range(3):
        nodes.take(5)
    assert nodes.free == 9
    assert nodes.take(9) is None


def test_scattered_gpus_are_collected_where_that_is_allowed():
    nodes = Nodes([4, 4, 4], spread=True)
    for _ in range(3):
        nodes.take(3)
    assert nodes.take(3) == ((0, 1), (1, 1), (2, 1))
    assert nodes.free == 0


def test_a_failed_node_counts_for_nothing_until_it_is_repaired():
    nodes = Nodes([4, 4])
    place = nodes.take(2)
    nodes.fail(0)
    assert (nodes.gpus, nodes.free) == (4, 4)
    nodes.give_back(place)
    assert nodes.free == 4
    assert nodes.take(4) == ((1, 4),)
    nodes.fail(0)
    nodes.repair(0)
    nodes.repair(0)
    assert (nodes.gpus, nodes.free) == (8, 4)


@pytest.mark.parametrize("sizes", [[], [0], [4, 0]])
def test_a_node_has_a_gpu(sizes):
    with pytest.raises(ValueError, match="at least one GPU"):
        Nodes(sizes)


def test_a_pool_has_no_nodes_to_fail():
    with pytest.raises(ValueError, match="no node 3"):
        GpuPool(4).fail(3)


asks = st.lists(st.integers(1, 20), min_size=1, max_size=30)
sizes = st.lists(st.integers(1, 8), min_size=1, max_size=6)


@given(sizes=sizes, asks=asks, spread=st.booleans(), data=st.data())
def test_what_is_given_is_there_once_and_comes_back(sizes, asks, spread, data):
    nodes = Nodes(sizes, spread=spread)
    held = []
    for gpus in asks:
        fits = nodes.fits(gpus)
        place = nodes.take(gpus)
        assert fits == (place is not None)
        if place is not None:
            assert sum(count for _, count in place) == gpus
            held.append(place)
        elif held and data.draw(st.booleans()):
            nodes.give_back(held.pop(data.draw(st.integers(0, len(held) - 1))))
        used = [
            sum(c for place in held for n, c in place if n == node) for node in range(len(sizes))
        ]
        assert all(0 <= count <= size for count, size in zip(used, sizes, strict=True))
        assert nodes.free == sum(sizes) - sum(used)
    for place in held:
        nodes.give_back(place)
    assert nodes.free == nodes.gpus == sum(sizes)
    if spread:
        assert nodes.take(sum(sizes)) is not None
