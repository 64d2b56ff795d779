"""What a poll of 20,000 waiting jobs costs the daemon."""

from contextlib import closing
from itertools import islice

import pytest

from bench.speed.full_queue import polls_of_full_queue
from files.people import needs_root

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@needs_root  # others may not order what is not theirs
def test_a_full_queue_costs_little(tmp_path, monkeypatch):
    monkeypatch.delenv("SLURM_CONF", raising=False)  # of the cluster of other tests
    with closing(polls_of_full_queue(tmp_path)) as polls:
        first, *later = islice(polls, 4)

    assert first.cpu_s < 10
    assert min(cost.cpu_s for cost in later) < 1
    assert later[-1].ordered > first.ordered >= 600
    assert later[-1].unread < first.unread < 20_000
