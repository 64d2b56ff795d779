"""How well unknown log formats are learnt.

    python -m bench.accuracy.unknown_formats            # by behaviour alone
    python -m bench.accuracy.unknown_formats --llm      # and with the model in use
    python -m bench.accuracy.unknown_formats --tracker  # through the whole tracker

The logs are generators in bench/corpora/unknown_formats; the table says which sets were looked at
while the learner was built.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.accuracy.unknown_format_score import Score, score_learner, score_tracker
from bench.command import command_line, model_in_use, progress
from bench.corpora.unknown_formats.labels import Log
from bench.corpora.unknown_formats.sets import SETS


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--llm", action="store_true", help="and with the language model in use")
    parser.add_argument("--tracker", action="store_true", help="with the exact formats, too")
    arguments = parser.parse_args()
    if arguments.tracker:
        benchmark(score_tracker)
    else:
        asker = model_in_use() if arguments.llm else None
        benchmark(lambda log: score_learner(log, asker))


def benchmark(score: Callable[[Log], Score]) -> None:
    print(f"{'set':<34} {'logs':>5} {'step':>5} {'total':>6} {'both':>5} {'wrong total > 0.5':>18}")
    for title, logs in SETS.items():
        scores = [score(log) for log in progress(logs, title)]
        print(_row(title, logs, scores))
        for one in scores:
            if not one.right or one.harmful:
                print(f"    {one.name}: {one.shown} (confidence {one.confidence:.2f})")


def _row(title: str, logs: tuple[Log, ...], scores: list[Score]) -> str:
    step, total = sum(one.step for one in scores), sum(one.total for one in scores)
    right, harmful = sum(one.right for one in scores), sum(one.harmful for one in scores)
    share = f"{100 * right / len(logs):.0f} %"
    return f"{title:<34} {len(logs):5} {step:5} {total:6} {share:>5} {harmful:18}"


if __name__ == "__main__":
    main()
