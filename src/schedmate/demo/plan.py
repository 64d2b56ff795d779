"""Which jobs the demo runs, and what should become of them."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPart:
    """One job of the play. `reasons` are the diagnoses that would be right, if it is to fail."""

    name: str
    script: str
    args: tuple[str, ...] = ()
    reasons: frozenset[str] = frozenset()
    ends_as: JobState = JobState.COMPLETED

    @property
    def fails(self) -> bool:
        return bool(self.reasons)


YESTERDAY: tuple[DemoPart, ...] = (
    DemoPart(name="digits-try", script="mlp_digits.py", args=("--epochs", "8")),
    DemoPart(name="char-lm-try", script="char_lm.py", args=("--steps", "120")),
    DemoPart(name="recsys-try", script="matrix_factorization.py", args=("--num-train-epochs", "7")),
    DemoPart(name="policy-try", script="policy_gradient.py", args=("--max-steps", "55")),
    DemoPart(name="conv-net-try", script="conv_net.py", args=("--epochs", "12")),
    DemoPart(name="autoencoder-try", script="hanging.py", args=("--epochs", "12")),
    DemoPart(
        name="regression-try",
        script="resumable.py",
        args=("--steps", "120", "--checkpoint-dir", "checkpoints/try"),
    ),
)
"""Short first tries. They end before the rest is submitted, so there is a history."""

TODAY: tuple[DemoPart, ...] = (
    DemoPart(name="conv-net", script="conv_net.py", args=("--epochs", "30")),
    DemoPart(name="clusters", script="kmeans.py", args=("--iterations", "40")),
    DemoPart(name="autoencoder", script="hanging.py", reasons=frozenset({"hang"})),
    DemoPart(name="digits-long", script="mlp_digits.py", args=("--epochs", "32")),
    DemoPart(name="char-lm-long", script="char_lm.py", args=("--steps", "400")),
    DemoPart(
        name="recsys-long", script="matrix_factorization.py", args=("--num-train-epochs", "20")
    ),
    DemoPart(name="policy-long", script="policy_gradient.py", args=("--max-steps", "140")),
    DemoPart(
        name="killed-once",
        script="resumable.py",
        args=("--steps", "240", "--killed-at", "130", "--checkpoint-dir", "checkpoints"),
        reasons=frozenset({"killed"}),
    ),
    DemoPart(name="digits-short", script="mlp_digits.py", args=("--epochs", "6")),
    DemoPart(
        name="wrong-shape",
        script="wrong_shape.py",
        reasons=frozenset({"shape_mismatch"}),
        ends_as=JobState.FAILED,
    ),
    DemoPart(name="char-lm-short", script="char_lm.py", args=("--steps", "160")),
)
"""All submitted at once. The first two take the machine; the long ones come next, as it happens."""

FOR_A_MODEL: tuple[DemoPart, ...] = (
    DemoPart(
        name="odd-failure",
        script="odd_failure.py",
        reasons=frozenset({"data_error"}),
        ends_as=JobState.FAILED,
    ),
)
"""Fails in words that no rule knows; submitted with today's where a model is asked."""
