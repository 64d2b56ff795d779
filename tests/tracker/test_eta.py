"""When a run ends: each step from a count to an answer, with numbers that can be done by hand."""

from __future__ import annotations

from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest

from schedmate.logs.file_times import WrittenSpan
from schedmate.model import Finding, Mark, RunProfile, Spread, Workload
from schedmate.tracker import eta as steps
from schedmate.tracker import track_with_curves
from schedmate.tracker.eta import EtaEstimate, estimate_eta

HUNDRED = Spread(80, 100, 150)


def tracked(text: str, **known: Any):
    answer, _ = track_with_curves(
        [("run.log", BytesIO(text.encode()))],
        quiet_s=0.0, writing=lambda: True, curves=False, **known,
    )  # fmt: skip
    return answer


def a_series(**parts: Any) -> Any:
    known = {
        "rate_per_s": None, "eta_s": None, "gained": 10.0, "done": 10.0, "per_lap": False,
        "stamped_before_s": 0.0, "total": None, "earlier_laps_s": 0.0, "run_time_s": None,
        "increment": 1.0,
    }  # fmt: skip
    return SimpleNamespace(**(known | parts))


def a_position(**parts: Any) -> Any:
    known = {
        "series": a_series(), "inner": None, "total": 100.0, "done": 10.0, "unit": "step",
        "most": None, "seen_at": 1000.0, "at_end": False,
    }  # fmt: skip
    return SimpleNamespace(**(known | parts))


def some_facts(**parts: Any) -> Any:
    known = {
        "now": None, "written_s": None, "elapsed_s": None, "similar": (), "workload": None,
        "grows": lambda _: False, "schedule": lambda _: None,
    }  # fmt: skip
    return SimpleNamespace(**(known | parts))


def a_scan(**parts: Any) -> Any:
    stamps = SimpleNamespace(span_s=parts.pop("span_s", 0.0), last={})
    return SimpleNamespace(**({"stamps": stamps, "may_stop_early": False} | parts))


def bar(done: int) -> str:
    return f"{done}%|{'#' * (done // 10):10}| {done}/100 [00:{done // 2:02}<00:99, 2.00it/s]"


def test_the_rate_of_an_epoch_is_that_of_its_steps_over_how_many_it_has():
    answer = tracked("Epoch 1/10\n" + "\r".join(bar(done) for done in range(0, 51, 10)))
    assert answer.rate_per_s == pytest.approx(0.02)
    assert answer.eta_s is not None
    assert answer.eta_s.p50 == pytest.approx(475, rel=0.02)


@pytest.mark.parametrize(
    ("outer", "inner", "rate"),
    [
        ({"rate_per_s": 3.0}, {"rate_per_s": 8.0, "total": 4.0}, 3.0),
        ({}, {"rate_per_s": 8.0, "total": 4.0}, 2.0),
        ({}, {"rate_per_s": 8.0}, None),
        ({}, {"total": 4.0}, None),
        ({"rate_per_s": 3.0}, None, 3.0),
    ],
)
def test_the_rate_that_is_printed(outer, inner, rate):
    finer = None if inner is None else a_series(**inner)
    assert steps._printed_rate(a_position(series=a_series(**outer), inner=finer)) == rate


def test_a_printed_rate_gives_a_wide_answer():
    by_rate = steps._by_what_is_printed(a_position(), 2.0)
    assert by_rate == EtaEstimate(rate_per_s=2.0, eta_s=Spread(36, 45, 67.5), ends_by="total")
    past = steps._by_what_is_printed(a_position(done=120.0), 2.0)
    assert past.eta_s == Spread(0, 0, 0)
    printed = a_position(total=None, series=a_series(eta_s=100.0))
    assert steps._by_what_is_printed(printed, 2.0) == EtaEstimate(
        rate_per_s=2.0, eta_s=HUNDRED, ends_by="unknown"
    )
    assert steps._by_what_is_printed(a_position(total=None), None) == EtaEstimate()


def average(position: Any = None, scan: Any = None, **facts: Any) -> EtaEstimate:
    return steps._by_average_rate(some_facts(**facts), scan or a_scan(), position or a_position())


def test_the_average_since_the_start_leaves_out_what_does_not_come_again():
    assert average(elapsed_s=20.0).rate_per_s == 0.5
    assert average(scan=a_scan(span_s=5.0)).rate_per_s == 2.0
    stamped = a_position(series=a_series(stamped_before_s=3.0))
    assert average(stamped, a_scan(span_s=5.0)).rate_per_s == 5.0
    assert average(written_s=120.0).rate_per_s == 0.1  # without 20 s of start-up
    assert average(written_s=10.0).rate_per_s == pytest.approx(10 / 6)  # without 40 %
    assert average(elapsed_s=0.5).rate_per_s == 20.0
    assert average().rate_per_s is None
    idle = a_position(series=a_series(gained=0.0))
    assert average(idle, elapsed_s=20.0).rate_per_s is None


def test_what_is_done_beyond_the_series_counts_unless_it_counts_laps():
    ahead = {"gained": 10.0, "done": 4.0}
    assert average(a_position(series=a_series(**ahead)), elapsed_s=16.0).rate_per_s == 1.0
    laps = a_position(series=a_series(per_lap=True, **ahead))
    assert average(laps, elapsed_s=10.0).rate_per_s == 1.0


def test_an_average_is_wider_still_and_widest_where_steps_may_grow():
    even = average(elapsed_s=10.0)
    assert even.eta_s == Spread(0.65 * 90, 90, 1.8 * 90)
    growing = average(elapsed_s=10.0, grows=lambda _: True)
    assert growing.eta_s is not None
    assert growing.eta_s.p90 == pytest.approx(90 * (1 + 1.5 * 1.1) / (1 + 1.5 * 0.1))
    done = average(a_position(done=100.0), elapsed_s=10.0)
    assert done.eta_s == Spread(0, 0, 0)


def test_a_schedule_prices_the_rest():
    asked = []

    def rest_cost(*places: float) -> tuple[float, float]:
        asked.append(places)
        return 3.0, 2.0

    schedule = SimpleNamespace(rest_cost=rest_cost)
    dearer = average(elapsed_s=10.0, schedule=lambda _: schedule)
    assert asked == [(0.0, 10.0, 100.0)]
    assert dearer.rate_per_s == 1.0
    assert dearer.eta_s == Spread(0.65 / 2 * 270, 270, 1.8 * 2 * 270)
    epochs = average(a_position(unit="epoch"), elapsed_s=10.0, schedule=lambda _: schedule)
    assert epochs.eta_s is not None
    assert epochs.eta_s.p50 == 90


def gaps(written_s: float | None, ends_by: Any = "total", **series: Any) -> Spread | None:
    estimate = EtaEstimate(eta_s=HUNDRED, ends_by=ends_by)
    position = a_position(series=a_series(**({"earlier_laps_s": 9.0} | series)))
    return steps._with_gaps(some_facts(written_s=written_s), position, estimate)


def test_time_between_bars_is_in_the_file_not_in_the_bars():
    assert gaps(220.0, run_time_s=100.0) == Spread(
        80, 100 * (1 + 1 * 100 / 110), 150 * 2.2
    )  # twice as long as the bars, of which the start-up is doubted
    for same in (gaps(110.0, run_time_s=100.0), gaps(None, run_time_s=100.0), gaps(220.0)):
        assert same == HUNDRED
    assert gaps(220.0, run_time_s=100.0, earlier_laps_s=0.0) == HUNDRED
    assert gaps(220.0, "limit", run_time_s=100.0) == HUNDRED


def at_most(ends_by: Any = "total", similar: Any = (), **position: Any) -> Spread | None:
    estimate = EtaEstimate(rate_per_s=0.5, eta_s=HUNDRED, ends_by=ends_by)
    return steps._at_most(some_facts(similar=similar), a_position(**position), estimate)


def test_something_comes_after_the_last_count():
    assert at_most() == Spread(80, 100, 165)
    assert at_most(most=210.0) == Spread(80, 100, 415)
    assert at_most(most=20.0) == Spread(80, 100, 165)
    assert at_most(similar=(1,)) == at_most("limit") == HUNDRED


def aged(now: float | None, rate: float | None = None, **position: Any) -> Spread | None:
    estimate = EtaEstimate(rate_per_s=rate, eta_s=HUNDRED)
    return steps._aged(some_facts(now=now), a_position(**position), estimate)


def test_time_passes_but_no_longer_than_until_the_next_line_is_due():
    assert aged(None) == aged(1000.0) == aged(990.0) == HUNDRED
    older, due = aged(1030.0), aged(1030.0, rate=0.1)
    assert older is not None
    assert older.p50 == pytest.approx(70)
    assert due is not None
    assert due.p50 == pytest.approx(90)
    sparse = aged(1030.0, rate=0.1, series=a_series(increment=2.0))
    assert sparse is not None
    assert sparse.p50 == pytest.approx(80)
    assert aged(1030.0, seen_at=None) == HUNDRED
    assert due.p90 == pytest.approx(140 + 20), "what is late may be late for as long again"


def test_a_run_that_would_be_over_by_its_own_pace_has_no_known_end():
    assert aged(1164.0) is not None, "a last evaluation may follow the last count"
    assert aged(1165.0) is None
    assert aged(1165.0, rate=0.1) is None


def early(in_code: bool | None, in_log: bool, ends_by: Any = "total") -> EtaEstimate:
    stated = None if in_code is None else Finding(value=in_code, source="cli")
    facts = some_facts(workload=Workload(early_stopping=stated))
    estimate = EtaEstimate(eta_s=HUNDRED, ends_by=ends_by)
    return steps._stopped_early(facts, a_scan(may_stop_early=in_log), estimate)


def test_a_run_that_may_stop_early_may_end_sooner():
    assert early(None, True).eta_s == early(True, False).eta_s == Spread(16, 100, 150)
    assert early(None, True).ends_by == "early_stop"
    assert early(False, True).ends_by == early(None, False).ends_by == "total"
    assert early(True, True, "limit").ends_by == "limit"


def limited(limit: float | None, elapsed: float | None, *, stable: bool = True) -> EtaEstimate:
    estimate = EtaEstimate(eta_s=HUNDRED, ends_by="total")
    return steps._within_limit(limit, elapsed, estimate, stable=stable)


def test_the_scheduler_ends_what_would_go_on_for_longer():
    for unlimited in (limited(None, 5.0), limited(50.0, None), limited(150.0, 50.0)):
        assert unlimited == EtaEstimate(eta_s=HUNDRED, ends_by="total")
    cut = limited(100.0, 50.0)
    assert (cut.eta_s, cut.ends_by) == (Spread(49, 50, 51), "limit")
    over = limited(100.0, 130.0)
    assert (over.eta_s, over.ends_by) == (Spread(0, 0, 0), "limit")
    assert limited(100.0, 130.0, stable=False) == over


def test_that_a_run_misses_its_limit_is_stated_only_from_a_stable_estimate():
    assert HUNDRED.p10 == 80
    for unsure in (limited(149.0, 50.0), limited(100.0, 50.0, stable=False)):
        assert unsure.ends_by == "total"
        assert unsure.eta_s is not None
        assert unsure.eta_s.p90 <= 99, "the limit ends it at the latest"
    assert limited(129.0, 50.0).ends_by == "limit"


def test_a_finished_run_has_no_time_left_and_ended_by_its_total_or_as_it_states():
    log = "".join(f"step {n}/20 loss 0.5\n" for n in range(1, 21))
    answer = tracked(log, written=WrittenSpan(0.0, 100.0))
    assert answer.fraction == 1.0
    position = a_position(at_end=True, series=a_series(rate_per_s=1.0))
    facts = some_facts(
        forecasts=SimpleNamespace(forecast=lambda *_, **__: (None, None)), cap_s=None
    )
    position.series.timeline, position.series.stamps, position.before = None, None, 0.0
    for stated, over in (("unknown", "total"), ("limit", "limit")):
        found = estimate_eta(facts, a_scan(ended_by=stated), position, finished=True)
        assert (found.eta_s, found.ends_by) == (Spread(0, 0, 0), over)
    position.at_end = False
    found = estimate_eta(facts, a_scan(ended_by="unknown"), position, finished=True)
    assert found.ends_by == "unknown"


def points(*times: float) -> Any:
    return SimpleNamespace(
        points=[SimpleNamespace(at=at, done=float(done)) for done, at in enumerate(times)]
    )


EVEN = points(*range(0, 80, 10))
FASTER = points(0, 10, 20, 30, 40, 44, 48, 52)
SLOW_AT_LAST = points(0, 10, 20, 30, 40, 45, 50, 90)


@pytest.mark.parametrize(
    ("outer", "inner", "stable"),
    [
        (EVEN, None, True),
        (points(*range(0, 70, 10)), None, False),
        (FASTER, None, False),
        (SLOW_AT_LAST, None, True),
        (points(0, 10), EVEN, True),
        (EVEN, points(5, 10), True),
    ],
)
def test_an_estimate_is_stable_after_several_observations_that_do_not_become_faster(
    outer, inner, stable
):
    finer = None if inner is None else a_series(timeline=inner)
    position = a_position(series=a_series(timeline=outer), inner=finer)
    assert steps._is_stable(position) is stable


def test_a_whole_estimate_knows_the_limit_and_how_long_the_run_has_taken():
    forecast = steps.Forecast(1.0, HUNDRED, None, "total", "pace", 0.5), None
    facts = some_facts(
        forecasts=SimpleNamespace(forecast=lambda *_, **__: forecast),
        cap_s=None, limit_s=100.0, run_time_s=lambda _: 70.0,
    )  # fmt: skip
    position = a_position(series=a_series(timeline=EVEN, stamps=None), before=0.0)
    found = estimate_eta(facts, a_scan(), position, finished=False)
    assert (found.ends_by, found.eta_s) == ("limit", Spread(0.98 * 30, 30, 1.02 * 30))
    facts.limit_s = 1000.0
    assert estimate_eta(facts, a_scan(), position, finished=False).ends_by == "total"
    facts.now = 2000.0  # long after the newest line
    assert estimate_eta(facts, a_scan(), position, finished=False).eta_s is None


def counted(found: Any, **series: Any) -> EtaEstimate:
    facts = some_facts(
        forecasts=SimpleNamespace(forecast=lambda *_, **__: (found, None)), cap_s=None
    )
    known = a_series(timeline=EVEN, stamps=None, **series)
    return steps._by_count(facts, a_scan(), a_position(series=known, before=0.0))


def test_a_forecast_without_an_end_gives_its_pace_and_none_that_which_is_printed():
    paced = steps.Forecast(3.0, None, None, "unknown", "pace", 0.5)
    assert counted(paced, rate_per_s=2.0).rate_per_s == 3.0
    assert counted(None, rate_per_s=2.0).rate_per_s == 2.0


def test_a_forecast_is_asked_with_all_that_is_known():
    asked = []

    def forecast(timeline: Any, **known: Any) -> Any:
        asked.append(known)
        return None, None

    profile = RunProfile(unit="step", curve=(Mark(0.0, 0.0), Mark(60.0, 9.0)))
    facts = some_facts(
        forecasts=SimpleNamespace(forecast=forecast), cap_s=7.0, similar=(profile,),
        grows=lambda _: True, schedule=lambda _: "schedule",
    )  # fmt: skip
    scan = a_scan()
    scan.stamps.last = {"clock": 5.0}
    outer = a_series(timeline=points(0), stamps="clock")
    position = a_position(series=outer, inner=a_series(total=4.0, counted=7.0, timeline=EVEN))
    position.before = 5.0
    assert steps._forecast(facts, scan, position) == (None, None)
    finer, whole = asked
    assert finer == {"total": 7.0 + 90 * 4, "cap_s": 7.0, "grows": True}
    known = {"total": 95.0, "similar": [profile], "cap_s": 7.0, "grows": True}
    assert whole == known | {"now": 5.0, "schedule": "schedule"}
    facts.now, position.unit = 9.0, "epoch"
    steps._forecast(facts, scan, position)
    assert asked[-1] == known | {"similar": [], "now": None, "schedule": None}


def test_runs_that_counted_otherwise_show_only_how_long_they_took():
    alike, other = (
        RunProfile(unit=unit, curve=(Mark(0.0, 0.0), Mark(60.0, 9.0))) for unit in ("step", "epoch")
    )
    assert steps._comparable([alike, other], a_position()) == [alike]
    assert steps._comparable([other], a_position()) == []
    [shown] = steps._comparable([other], a_position(total=None))
    assert (shown.unit, shown.curve) == ("step", (Mark(0.0, 0.0), Mark(other.duration_s, 0.0)))


def test_a_finer_count_forecasts_while_the_count_has_hardly_moved():
    asked = []

    def forecast(timeline: str, **known: Any) -> Any:
        asked.append((timeline, known["total"]))
        return steps.Forecast(8.0, None, None, "total", "pace", 0.5), None

    facts = some_facts(forecasts=SimpleNamespace(forecast=forecast), cap_s=None)
    inner = a_series(total=4.0, counted=7.0, timeline="finer")
    outer = a_series(timeline=SimpleNamespace(points=range(7)), stamps=None)
    position = a_position(series=outer, inner=inner, before=5.0)
    found, _ = steps._forecast(facts, a_scan(), position)
    assert asked == [("finer", 7.0 + 90 * 4)]
    assert found is not None
    assert found.rate_per_s == 2.0
    outer.timeline = SimpleNamespace(points=range(8))
    steps._forecast(facts, a_scan(), position)
    assert asked[1] == (outer.timeline, 95.0)
