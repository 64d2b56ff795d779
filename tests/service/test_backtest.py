"""What a backtest finds on stores whose past is known exactly."""

from __future__ import annotations

import json
import random
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.prediction import predict
from schedmate.cli import root
from schedmate.cli._backtest_words import headline
from schedmate.config import Settings
from schedmate.model import (
    Finding,
    Fingerprint,
    Job,
    JobState,
    NotFound,
    PastRun,
    Request,
    Workload,
)
from schedmate.service.usecases import backtest as backtesting
from schedmate.service.usecases.backtest import RunReplay, backtest, scratch_settings
from schedmate.service.usecases.backtest_scores import explained
from schedmate.service.visibility import Viewer
from schedmate.service.wiring import open_store

DAY_S = 86_400.0


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    return Settings(state_dir=tmp_path / "state", cache_dir=tmp_path / "cache")


def a_run(
    number,
    duration_s,
    *,
    submitted_at,
    user="ann",
    name="train",
    partition="gpu",
    command=(),
    epochs=None,
    limit=None,
):
    """Of one training script; `epochs` are what its code states."""
    record = Workload()
    if epochs is not None:
        record = Workload(epochs=Finding(value=float(epochs), source="cli", confidence=1.0))
    return PastRun(
        job=Job(
            id=str(number),
            name=name,
            user=user,
            command=command,
            state=JobState.COMPLETED,
            workdir="/home/ann",
            request=Request(gpus=1, partition=partition, time_limit_s=limit),
            submit_time=submitted_at,
            start_time=submitted_at + 5.0,
            end_time=submitted_at + 5.0 + duration_s,
        ),
        fingerprint=None if epochs is None else Fingerprint(code="c0de", arguments=str(epochs)),
        workload=record,
    )


def keep(settings, runs):
    with closing(open_store(settings)) as store:
        store.keep_runs(runs)


def by_epochs(count, **others):
    """Durations follow from the epochs alone, in an order that history cannot know."""
    lengths = [1, 30, 4, 90, 2, 60, 10, 45, 3, 75]
    return [
        a_run(
            number,
            100.0 * lengths[number * 7 % 10],
            submitted_at=DAY_S + 20_000.0 * number,
            epochs=lengths[number * 7 % 10],
            **others,
        )
        for number in range(count)
    ]


def test_code_that_decides_durations_beats_every_control(settings):
    keep(settings, by_epochs(60))

    found = backtest(settings)

    assert found.runs == 59  # before the first none had ended
    assert found.with_code == 59
    assert found.predictors["schedmate"].within_2x > 0.85
    assert found.predictors[found.best_control].within_2x < 0.5
    assert found.gain.low > 0.2


def test_the_headline_counts_what_the_table_counts(settings):
    """The same runs, and the control that is best by the figure that the headline states."""
    others = [
        a_run(100 + n, 100.0 * (n % 7 + 1), submitted_at=DAY_S + 21_000.0 * n, user="bob")
        for n in range(30)
    ]
    keep(settings, [*by_epochs(40), *others])

    found = backtest(settings)

    controls = {
        name: each.within_2x
        for name, each in found.predictors.items()
        if name not in ("schedmate", "without_code")
    }
    assert controls[found.best_control] == max(controls.values())
    ours = found.predictors["schedmate"].within_2x
    assert found.gain.within_2x == pytest.approx(ours - max(controls.values()), abs=1e-3)
    assert {each.runs for each in found.predictors.values()} == {found.runs}
    first, second = headline(found).split("\n")
    assert first.startswith(f"{found.runs} runs of 70 (the others came first), submitted over")
    assert f"{max(controls.values()):.0%}" in first
    assert f"{100 * found.gain.within_2x:+.0f} points" in second


@pytest.mark.parametrize(("days", "is_judged"), [(2, False), (9, False), (10, True)])
def test_no_verdict_from_fewer_than_ten_groups(settings, tmp_path, days, is_judged):
    """Runs of one user's day count as one, however many they are."""
    runs = [
        a_run(n, 100.0 + n, submitted_at=DAY_S * (1 + n // 4) + 2000.0 * (n % 4))
        for n in range(4 * days)
    ]
    keep(settings, runs)

    found = backtest(settings)
    second = headline(found).split("\n")[1]
    CliRunner().invoke(root, ["backtest", "--html", str(tmp_path / "page.html")])

    assert found.gain.groups == days
    assert (found.gain.low is not None) == (found.gain.high is not None) == is_judged
    assert ("95% interval" in second) == is_judged
    missing = f"these are {days} groups; 10 are needed"
    assert (missing in second) != is_judged
    assert (missing in (tmp_path / "page.html").read_text()) != is_judged


def test_durations_of_pure_chance_are_not_claimed(settings):
    keep(
        settings,
        [
            a_run(
                number,
                100.0 * (1 + number * number * 31 % 89),
                submitted_at=DAY_S + 20_000.0 * number,
                epochs=number % 9 + 1,
            )
            for number in range(60)
        ],
    )

    found = backtest(settings)

    assert found.gain.low <= 0.0


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, DAY_S])
@pytest.mark.parametrize("seed", range(3))
def test_where_no_code_was_read_neighbours_never_outweigh_the_site(settings, seed, limit):
    """Run times are drawn from three values, whatever a job's user and name are."""
    pick = random.Random(seed)
    runs = [
        a_run(
            number,
            pick.choice([60.0, 3600.0, 7200.0]),
            submitted_at=DAY_S + 600.0 * number,
            user=pick.choice(["ann", "bob", "eve"]),
            name=pick.choice(["vit", "llm"]),
            limit=limit,
        )
        for number in range(120)
    ]
    keep(settings, runs)

    found = backtest(settings).predictors

    assert found["schedmate"].pinball <= 1.03 * found["without_code"].pinball
    assert found["schedmate"].pinball <= 1.1 * found["site_median"].pinball


def test_the_control_without_code_does_not_see_the_command(settings):
    """Its arguments decide how long each run takes, and half of them repeat."""
    commands = [
        ("sbatch", "train.py", "--epochs", str(each.workload.epochs.value))
        for each in by_epochs(60)
    ]
    plain = by_epochs(60)
    with_commands = [
        replace(run, job=replace(run.job, command=command))
        for run, command in zip(plain, commands, strict=True)
    ]
    keep(settings, with_commands)

    seen = backtest(settings).predictors

    assert seen["without_code"].within_2x < 0.5
    assert seen["schedmate"].within_2x > 0.85


def test_controls_are_what_their_names_say(settings):
    """The user's runs took 100, 200, 400, then 800 s; another user's 1,000 s."""
    runs = [
        a_run(1, 100.0, submitted_at=0.0, limit=3600.0),
        a_run(2, 200.0, submitted_at=10_000.0, limit=3600.0),
        a_run(3, 1000.0, submitted_at=20_000.0, user="bob", limit=3600.0),
        a_run(4, 400.0, submitted_at=30_000.0, limit=3600.0),
        a_run(5, 800.0, submitted_at=40_000.0, limit=1600.0),
    ]
    keep(settings, runs)

    with closing(open_store(replace(settings, state_dir=settings.state_dir / "x"))) as empty:
        said = RunReplay(empty, runs).predicted(lambda *_: None)[-1]

    assert said.run.duration_s == 800.0
    assert said.spreads["last_two"].p50 == 300.0
    assert said.spreads["site_median"].p50 == 400.0
    assert said.spreads["limit"].p50 == 1600.0
    mean = (0.8**2 * 100 + 0.8 * 200 + 400) / (0.8**2 + 0.8 + 1)
    assert said.spreads["history"].p50 == pytest.approx(mean)


def test_a_prediction_is_the_live_one_of_that_time(settings, tmp_path):
    """Before anything is learnt: what `predict` answers on a store of the runs that had ended."""
    runs = by_epochs(10)
    live = replace(settings, state_dir=tmp_path / "live")
    keep(live, runs[:9])
    last = runs[9]
    with closing(open_store(live)) as store:
        expected = predict(store, Target.from_job(last.job, None), last.fingerprint, last.workload)

    with closing(open_store(replace(settings, state_dir=tmp_path / "scratch"))) as empty:
        said = RunReplay(empty, runs).predicted(lambda *_: None)[-1]

    assert said.basis == expected.basis == "same_code"
    assert said.spreads["schedmate"].p50 == pytest.approx(expected.duration_s.p50)


def test_nothing_is_known_of_what_had_not_ended(settings, tmp_path):
    """Another end of the last two runs changes no prediction made before."""
    runs = by_epochs(30)
    others = [
        *runs[:28],
        *(
            replace(run, job=replace(run.job, end_time=run.job.start_time + 7.0))
            for run in runs[28:]
        ),
    ]
    said = []
    for number, past in enumerate((runs, others)):
        with closing(open_store(replace(settings, state_dir=tmp_path / str(number)))) as empty:
            found = RunReplay(empty, past).predicted(lambda *_: None)
        said.append([each.spreads for each in found][:28])

    assert said[0] == said[1]


def test_ids_of_two_schedulers_do_not_hide_each_other(settings):
    keep(settings, by_epochs(10))
    with closing(open_store(settings, of="slurm")) as store:
        store.keep_runs(by_epochs(10, partition="long"))

    found = backtest(settings)

    assert found.learnt_from == 20
    assert {each.name: each.schedmate.runs for each in found.groups["partition"]} == {
        "gpu": 9,
        "long": 9,
    }


def test_since_judges_fewer_and_still_learns_from_all(settings):
    runs = by_epochs(60)
    keep(settings, runs)

    found = backtest(settings, since=runs[50].job.submit_time)

    assert (found.runs, found.learnt_from) == (10, 60)
    assert found.predictors["schedmate"].within_2x > 0.9


def test_an_ordinary_user_sees_own_runs_only(settings, monkeypatch):
    keep(
        settings,
        by_epochs(20, user="ann")
        + [
            replace(run, job=replace(run.job, id=f"b{run.job.id}", user="bob"))
            for run in by_epochs(8)
        ],
    )
    ordinary = Viewer(user="bob", operator=False)
    monkeypatch.setattr(backtesting, "viewer_of", lambda _: ordinary)

    found = backtest(settings)

    assert found.own_only
    assert [each.name for each in found.groups["user"]] == ["bob"]
    assert found.runs <= 8


@pytest.mark.parametrize(
    ("runs", "since", "words"),
    [
        (0, None, "schedmate history import"),
        (1, None, "nothing to judge yet"),
        (5, 1e12, "leave --since out"),
    ],
)
def test_a_store_that_cannot_be_judged_is_explained(settings, runs, since, words):
    keep(settings, by_epochs(runs))

    with pytest.raises(NotFound, match=words):
        backtest(settings, since=since)


def test_the_verb_prints_a_table_data_and_a_page(settings, tmp_path):
    keep(settings, by_epochs(30, limit=20_000.0))
    run = CliRunner().invoke

    table = run(root, ["backtest", "--by", "user"])
    data = run(root, ["backtest", "--json", "--html", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text()

    assert table.exit_code == data.exit_code == 0
    assert "USER" in table.output
    assert "PARTITION" not in table.output
    found = json.loads(data.output)
    assert found["schema"] == "schedmate.backtest/1"
    assert set(found["predictors"]) == {
        *("schedmate", "without_code", "history", "last_two", "site_median", "limit", "constant")
    }
    assert "By partition" in page
    assert "<script>" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_name_cannot_become_markup_on_the_page(settings, tmp_path):
    keep(settings, by_epochs(12, user="<img src=x onerror=alert(1)>"))

    result = CliRunner().invoke(root, ["backtest", "--html", str(tmp_path / "page.html")])

    assert result.exit_code == 0
    assert "<img" not in (tmp_path / "page.html").read_text()


def test_a_page_without_a_directory_is_refused_before_the_work(settings, tmp_path):
    result = CliRunner().invoke(root, ["backtest", "--html", str(tmp_path / "no" / "page.html")])

    assert result.exit_code != 0
    assert "make it first" in str(result.exception)


def test_the_scratch_store_is_never_the_sites_own(settings, tmp_path):
    """A store in PostgreSQL goes before a state directory."""
    site = replace(settings, store_url="postgresql://site/schedmate")

    with closing(open_store(scratch_settings(site, tmp_path / "scratch"))) as empty:
        assert not empty.recent_runs()

    assert (tmp_path / "scratch" / "schedmate.sqlite3").exists()


def test_the_mean_explains_nothing_and_the_truth_all():
    real = np.log([10.0, 100.0, 1000.0])

    assert explained(real, real) == 1.0
    assert explained(real, np.full(3, real.mean())) == pytest.approx(0.0)
    assert explained(real, real[::-1]) < 0.0
    assert explained(np.zeros(3), np.ones(3)) is None
