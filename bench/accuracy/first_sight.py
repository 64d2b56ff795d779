"""What the tracker answers about a part of home-made runs: at 30, 60 and 90 % of each.

    python -m bench.accuracy.first_sight

The runs are generators in bench/corpora/home_made_runs. The first set was seen while the tracker
learnt to read such logs; the others were written later, scored as they were, and
seen then.
"""

from __future__ import annotations

from bench.accuracy.first_sight_score import CUTS, Look, look, look_at_end
from bench.command import command_line, progress
from bench.corpora.home_made_runs import (
    eighth,
    eleventh,
    fifth,
    first,
    fourth,
    ninth,
    second,
    seventh,
    sixth,
    tenth,
    third,
    twelfth,
)
from bench.corpora.home_made_runs.run import Run

SETS = {
    "first": first.RUNS,
    "second": second.RUNS,
    "third": third.RUNS,
    "fourth": fourth.RUNS,
    "fifth": fifth.RUNS,
    "sixth": sixth.RUNS,
    "seventh": seventh.RUNS,
    "eighth": eighth.RUNS,
    "ninth": ninth.RUNS,
    "tenth": tenth.RUNS,
    "eleventh": eleventh.RUNS,
    "twelfth": twelfth.RUNS,
}


def main() -> None:
    command_line(__doc__, __spec__).parse_args()
    print(
        f"{'set':<8} {'looks':>5} {'right':>6} {'confidently wrong':>18} {'over too early':>15}"
        f" {'wrong phase':>12} {'time known':>11} {'end seen':>9}"
    )
    for title, runs in SETS.items():
        looks = [look(run, share) for run in progress(runs, title) for share in CUTS]
        print(_row(title, runs, looks))
        for one in looks:
            if not one.right or one.over_too_early or one.phase_wrong:
                print(f"    {one}")


def _row(title: str, runs: tuple[Run, ...], looks: list[Look]) -> str:
    closing = [run for run in runs if run.last_words]
    ends = sum(look_at_end(run).phase == "finished" for run in closing)
    timed = [one for one in looks if one.run.timed]
    return (
        f"{title:<8} {len(looks):5} {sum(one.right for one in looks):6}"
        f" {sum(one.confidently_wrong for one in looks):18}"
        f" {sum(one.over_too_early for one in looks):15}"
        f" {sum(one.phase_wrong for one in looks):12}"
        f" {sum(one.estimated for one in timed):6} /{len(timed):3} {ends:5} /{len(closing):2}"
    )


if __name__ == "__main__":
    main()
