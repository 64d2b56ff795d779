"""Metrics in a home-made line: `loss=0.3`, `train loss 0.3`, `loss at step 3: 0.3`, `ret=[1.]`."""

from __future__ import annotations

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, metric_name, metrics_in
from schedmate.tracker.formats.counts import WORDS

_SPACED = lazy_pattern(
    r"\b((?:[a-z]{1,12}[_-]|(?:train(?:ing)?|val(?:id(?:ation)?)?|test|eval|avg|mean|total) )?"
    r"(?:loss|acc|accuracy|ppl|perplexity|lr|reward|grad_norm))"
    rf"\s{{1,4}}({NUMBER})(?![\w:/]|\.\d|,\d{{3}})"
)
_SPACED_HINTS = ("loss ", "acc ", "accuracy ", "ppl ", "perplexity ", "lr ", "reward ", "norm ")
_BOXED = lazy_pattern(rf"(?<![\w/.])([A-Za-z_]\w{{0,39}})=\[{{1,2}}({NUMBER})\]{{1,2}}(?!\w)")
"""NumPy's scalars: `episodic_return=[123.]`."""
_STATED_AT = lazy_pattern(
    r"\b(loss|acc|accuracy) (?:at|after|for|in) (?:step|epoch|iteration|batch) {1,3}\d{1,12}"
    rf"\s{{0,3}}[:=]\s{{0,3}}({NUMBER})(?![\w:/])"
)
_NO_METRICS = frozenset(
    {
        "train_time", "training_time", "elapsed", "elapsed_time", "elapsed_s", "time_elapsed",
        "total_time", "wall_time", "walltime", "runtime", "run_time", "uptime", "eta", "remaining",
        "time_left", "epoch", "epochs", "ep", "step", "steps", "iter", "it", "iteration", "update",
        "batch", "global_step", "episode", "round", "generation", "trial", "fold", "samples",
        "tokens", "timestep", "total_steps", "max_steps", "num_steps", "max_iters", "num_epochs",
        "max_epochs", "total_epochs", "dt", "it/s", "steps/s", "tok/s", "tok/sec", "tokens/s",
        "samples/s", "examples/s", "images/s", "img/s", "progress", "training", "rank", "pid",
    }
).union(WORDS)  # fmt: skip


def metrics_stated(text: str, lowered: str) -> dict[str, float]:
    metrics = metrics_in(text, without=_NO_METRICS)
    if any(hint in lowered for hint in _SPACED_HINTS):
        spaced = _SPACED.findall(lowered)
        if " at " in lowered or " after " in lowered:
            spaced += _STATED_AT.findall(lowered)
        metrics = {metric_name(name): float(value) for name, value in spaced} | metrics
    if "=[" in text:
        metrics |= {metric_name(name): float(value) for name, value in _BOXED.findall(text)}
    return metrics
