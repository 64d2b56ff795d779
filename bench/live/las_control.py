"""The daemon in compressed time that predicts nothing: a control.

    python -m bench.live.las_control serve

All else is SchedMate's. No waiting job has been served yet, so that all have one nice number and
Slurm's own order stands. A run makes way right after a checkpoint for a job that has been served
less: least attained service, as far as logs do not show what is left of a run.
"""

from __future__ import annotations

from bench.live.compressed_time import compress
from schedmate.advisor.predict import prediction
from schedmate.cli import main
from schedmate.model import Prediction


def predict_nothing(*_: object, **__: object) -> Prediction:
    """Takes the place of `advisor.predict.prediction.predict`."""
    return Prediction(basis="none", explanation="a control: no run time is predicted")


if __name__ == "__main__":
    compress()
    prediction.predict = predict_nothing
    main()
