"""What nice numbers are worth at a site, from its own configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model.priority import BASIC_FLOOR, room_beyond
from schedmate.schedulers.slurm.site import SlurmSite
from schedmate.testing.builders import a_job


def config(**values):
    lines = {"PriorityType": "priority/multifactor", "PriorityMaxAge": "7-00:00:00", **values}
    return "\n".join(f"{name:<24}= {value}" for name, value in lines.items())


@pytest.mark.parametrize(
    ("weight", "max_age", "hours", "largest"),
    [
        (1000, "7-00:00:00", 168.0, 1000),
        (1000, "14-00:00:00", 168.0, 500),
        (100_000, "14-00:00:00", 168.0, 50_000),
        (1000, "7-00:00:00", 16.8, 100),
        (1000, "1-00:00:00", 168.0, 1000),
    ],
)
def test_the_same_place_is_the_same_hours_of_waiting(weight, max_age, hours, largest):
    site = SlurmSite.read(
        config(PriorityWeightAge=weight, PriorityMaxAge=max_age), nice_hours=hours
    )
    assert site.nice_range == largest
    lifted_h = site.nice_range / site.nice_an_hour
    assert lifted_h == pytest.approx(min(hours, weight / site.nice_an_hour))


def test_where_age_has_no_weight_an_hour_is_worth_nothing():
    assert SlurmSite.read(config(PriorityWeightAge=0)).nice_an_hour is None
    basic = SlurmSite.read(config(PriorityType="priority/basic", PriorityWeightAge=1000))
    assert (basic.nice_an_hour, basic.nice_range) == (None, 10_000)


def test_the_sites_own_range_counts():
    assert SlurmSite.read(config(PriorityWeightAge=1000), nice_range=77).nice_range == 77


@given(
    st.integers(0, 10_000_000),
    st.integers(-10_000, 100_000),
    st.integers(0, 1_000_000),
    st.sampled_from(["priority/multifactor", "priority/basic"]),
)
def test_no_number_sets_a_job_down_to_the_floor(points, nice, weight, kind):
    """Where numbers go upwards."""
    site = SlurmSite.read(config(PriorityWeightAge=weight, PriorityType=kind))
    job = a_job(priority=points, nice=nice, most_nice=site.nice_range)
    most = room_beyond(job, 0)
    if most is not None:
        assert points + nice - most > BASIC_FLOOR
        assert 0 < most <= site.nice_range


@pytest.mark.parametrize(
    ("parameters", "version", "soft"),
    [
        ("bf_interval=30,time_min_as_soft_limit", "23.11.0", True),
        ("time_min_as_soft_limit", "26.05.5", True),
        ("time_min_as_soft_limit", "22.05.8", False),
        ("time_min_as_soft_limit", "23.02.7", False),
        ("time_min_as_soft_limit", "", False),
        ("bf_interval=30", "26.05.5", False),
        ("no_time_min_as_soft_limit_here", "26.05.5", False),
        ("(null)", "26.05.5", False),
    ],
)
def test_time_min_is_used_only_where_slurm_knows_soft_limits(parameters, version, soft):
    """An older one takes the word in silence."""
    text = config(SchedulerParameters=parameters, SLURM_VERSION=version)
    assert SlurmSite.read(text).soft_limits is soft
