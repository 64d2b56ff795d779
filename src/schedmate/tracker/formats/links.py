"""Web pages of the run: W&B, TensorBoard, MLflow, Comet and others."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting

_MAX_LENGTH = 2048
_URL = lazy_pattern(r"https?://[^\s'\"<>`\\\[\]{}|^]{4,500}", re.IGNORECASE)
_SAID = lazy_pattern(
    r"view (?:run|project|experiment|sweep|your tensorboard)\b|tensorboard \S{1,40} at http"
    r"|tensorboard (?:is )?(?:running|available|started|listening)|experiment is live on"
    r"|clearml results page|open in the app|\bview the run\b|run page:|synced .{0,80}: http"
    r"|track this run|follow (?:it|the run) at",
    re.IGNORECASE,
)
_RUN = lazy_pattern(
    r"https?://(?:wandb\.ai/[\w.-]{1,80}/[\w.-]{1,80}/(?:runs|sweeps)/"
    r"|(?:www\.)?comet\.com/[\w.-]{1,80}/[\w.-]{1,80}/[0-9a-f]{8,40}"
    r"|app\.neptune\.ai/\S{1,120}/e/|app\.clear\.ml/projects/|swanlab\.cn/@?\S{1,120}/runs/"
    r"|tensorboard\.dev/experiment/)",
    re.IGNORECASE,
)
_USER = lazy_pattern(r"^(https?://)[^/?#@]{0,200}@", re.IGNORECASE)
_SECRET = lazy_pattern(r"key|token|secret|passw|auth|sig|credential|session|jwt", re.IGNORECASE)


class Links:
    name = "link"
    hints = ("http://", "https://")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        found = _URL.search(text)
        if found is None or not (_SAID.search(text) or _RUN.match(text, found.start())):
            return None
        return Sighting(links=(_without_secrets(found[0]),))

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "wandb: 🚀 View run at https://wandb.ai/ada/mnist/runs/1a2b3c4d",
            Sighting(links=("https://wandb.ai/ada/mnist/runs/1a2b3c4d",)),
        ),
        Sample(
            "wandb: 🚀 View run at https://wandb.ai/anony/m/runs/1a2b?apiKey=0123456789abcdef",
            Sighting(links=("https://wandb.ai/anony/m/runs/1a2b",)),
        ),
        Sample(
            "TensorBoard 2.16.2 at http://node7:6006/ (Press CTRL+C to quit)",
            Sighting(links=("http://node7:6006/",)),
        ),
        Sample(
            "🏃 View run calm-fox-12 at: http://ada:pw@mlflow:5000/#/experiments/0/runs/0f1e2d",
            Sighting(links=("http://mlflow:5000/#/experiments/0/runs/0f1e2d",)),
        ),
        Sample(
            "COMET INFO: Experiment is live on comet.com https://www.comet.com/ada/mnist/0f1e2d3c",
            Sighting(links=("https://www.comet.com/ada/mnist/0f1e2d3c",)),
        ),
        Sample(
            "[neptune] [info   ] Neptune initialized. Open in the app: "
            "https://app.neptune.ai/ada/mnist/e/MNIST-12",
            Sighting(links=("https://app.neptune.ai/ada/mnist/e/MNIST-12",)),
        ),
        Sample(
            "ClearML results page: https://app.clear.ml/projects/0f/experiments/1e/output/log",
            Sighting(links=("https://app.clear.ml/projects/0f/experiments/1e/output/log",)),
        ),
        Sample(
            "swanlab: 🚀 View run at https://swanlab.cn/@ada/mnist/runs/abc123.",
            Sighting(links=("https://swanlab.cn/@ada/mnist/runs/abc123",)),
        ),
        Sample(
            "https://tensorboard.dev/experiment/AbC123/",
            Sighting(links=("https://tensorboard.dev/experiment/AbC123/",)),
        ),
        Sample("wandb: API key: https://wandb.ai/authorize", None),
        Sample("see https://docs.wandb.ai/guides for the docs", None),
        Sample("downloading https://data.org/a.tar?view=1", None),
        Sample("View run at the dashboard", None),
        Sample("http://" * 9000, None),
    )


def _without_secrets(url: str) -> str:
    url = _USER.sub(r"\1", url.rstrip(".,;:!)"))
    bare, mark, query = url.partition("?")
    return bare if mark and _SECRET.search(query) else url
