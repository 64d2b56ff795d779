"""Counts that are not, or not any more, that of the whole run are not believed to be."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import pytest

from schedmate.model import Progress
from schedmate.tracker import track_stream

NAMES = ("alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine")


def tracked(text: str) -> Progress:
    return track_stream(BytesIO(text.encode()), name="run.log")


def bar(name: str, last: int, total: int = 100) -> str:
    """A bar that is drawn again and again up to `last`."""
    drawn = range(0, last + 1, 5)
    return "".join(f"\r{name}: {n:3d}%|## | {n}/{total} [00:09<00:30,  1.6it/s]" for n in drawn)


def steps(section: str, count: int, form: str = "{s} | step={n}, loss={x:.4f}\n") -> str:
    return "".join(form.format(s=section, n=n, x=2 / (n + 1)) for n in range(count))


def bars(names: Sequence[str], heading: str = "") -> str:
    """Bars that run through, but for the last one."""
    done = "".join(
        heading.format(n=n, name=name) + bar(name, 100) + "\n"
        for n, name in enumerate(names[:-1], 1)
    )
    return done + heading.format(n=len(names), name=names[-1]) + bar(names[-1], 60)


@pytest.mark.parametrize("ending", [".tar", ""])
def test_bars_of_one_kind_after_each_other_are_not_the_run(ending: str):
    found = tracked(bars([name + ending for name in NAMES[:5]]))

    assert found.confidence <= 0.4


def test_files_of_different_sizes_are_not_the_run():
    files = "".join(bar(f"{name}.bin", 100 + 5 * n, 100 + 5 * n) for n, name in enumerate(NAMES))
    found = tracked(files + bar("yew.bin", 60, 205))

    assert found.confidence <= 0.4


def test_a_training_after_two_downloads_is_the_run():
    downloads = bar("vocab.json", 40, 40) + bar("merges.txt", 60, 60)
    found = tracked(downloads + bar("Training", 200, 1000))

    assert (found.fraction, found.confidence) == (0.2, 0.95)


@pytest.mark.parametrize("begun", [4, 5, 9])
def test_a_bar_for_each_of_several_files_is_inside_their_count(begun: int):
    heading = "2026-02-03 10:00:0{n},100 - INFO - Fetching archive {n}/60: {name}\n"
    there = "".join(heading.format(n=n, name=NAMES[n]) for n in range(1, 4))
    rest = "".join(
        heading.format(n=n, name=NAMES[n]) + bar(NAMES[n], 100 if n < begun else 60) + "\n"
        for n in range(4, begun + 1)
    )
    found = tracked(there + rest)

    assert (found.current, found.total) == (begun, 60)


def test_files_are_counted_where_all_of_them_have_bars():
    found = tracked(bars([f"{name}.tar" for name in NAMES], "archive {n} of 60: {name}\n"))

    assert (found.current, found.total) == (10, 60)


def test_a_count_that_a_longer_script_leaves_behind_is_not_the_run():
    packages = "".join(f"unpacking : {NAMES[n % 7]}    {n}/23\n" for n in range(1, 21))
    left = packages + "".join(f"setting up {NAMES[n % 9]} by hand\n" for n in range(150))

    assert tracked(packages).confidence > 0.5
    assert tracked(left).confidence <= 0.4


def test_a_phase_that_follows_one_of_an_announced_length_has_none():
    pretraining = "max_steps: 300\n" + steps("pretrain", 300)

    found = tracked(pretraining + steps("train", 120))
    assert (found.current, found.total) == (119, None)


def test_a_phase_has_the_length_that_is_stated_of_it():
    command = "fit --yml chain.yml train.run.iterations=4800 out=runs/a\n"
    pretraining = command + "max_steps: 300\n" + steps("pretrain", 300)

    found = tracked(pretraining + steps("train", 120))
    assert (found.current, found.total) == (119, 4800)


def test_a_count_that_begins_anew_after_its_total_may_be_another_phase():
    found = tracked("max_steps: 300\n" + steps("pretrain", 300) + steps("finetune", 120))

    assert found.current == 119
    assert found.confidence <= 0.5


def test_an_interlude_does_not_replace_the_count_of_the_run():
    interlude = steps("sampler", 20, "{s} iter={n}, loss={x:.4f}\n")
    found = tracked("max_steps: 300\n" + steps("train", 200) + interlude)

    assert (found.current, found.total) == (199, 300)


def test_the_last_step_from_zero_is_left_when_the_next_phase_counts():
    first = steps("pretrain", 300, "{s} | step {n}/300, loss={x:.4f}\n")
    found = tracked(first + steps("train", 50, "{s} | step {n}/5000, loss={x:.4f}\n"))

    assert (found.current, found.total) == (49, 5000)


def test_the_last_round_from_zero_goes_on_while_others_count_inside():
    rounds = ""
    for n in range(12):
        inner = range(1, 21 + n)
        rounds += f"step {n}/12, loss=0.5\n"
        rounds += "".join(f"substep step {i}/{20 + n}, loss=0.4\n" for i in inner)
    found = tracked(rounds)

    assert (found.total, found.confidence > 0.5) == (12, True)


def test_a_time_of_day_is_no_end_of_a_simulated_time():
    lines = "".join(f"Time = {n * 1.9e-7:.5g}\nresidual {1 / n:.4g}\n\n" for n in range(1, 200))

    assert tracked("Date : May 26 2024\nTime : 19:37:35\n" + lines).fraction is None


def test_an_end_that_would_take_a_thousand_million_lines_is_none():
    lines = "".join(f"Time = {n * 1e-9:.5g}\nresidual {1 / n:.4g}\n\n" for n in range(1, 200))

    assert tracked("total time: 1.0\n" + lines).fraction is None
    found = tracked("total time: 1e-6\n" + lines)
    assert found.fraction == pytest.approx(0.199)


def test_a_run_time_in_hours_is_an_end():
    lines = "".join(f"t = {n * 1.5:.1f} s residual {1 / n:.4g}\n" for n in range(1, 201))

    assert tracked("run time: 01:00:00\n" + lines).fraction == pytest.approx(300 / 3600)


def test_a_number_that_hardly_moves_is_the_share_of_no_total():
    lines = "".join(
        f"[Job {n}] fit.sh --weights out/w_V{n // 12} --data set_may2019_bin/part{7 * n}.bin\n"
        for n in range(1, 15)
    )
    found = tracked(lines)

    assert (found.current, found.total) == (14, None)


def test_a_bar_of_unknown_length_is_not_divided_by_a_stated_number():
    lines = "".join(f"{n}/Unknown - 2s 31ms/step - loss: 0.{90 - n}\n" for n in range(1, 31))

    assert tracked("we use a total of 1000 iterations\n" + lines).current == 30
