"""Which jobs the demo runs, and what should become of them."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One job of the play. `reasons` are the diagnoses that would be right, if it is to fail."""

    name: str
    script: str
    args: tuple[str, ...] = ()
    reasons: frozenset[str] = frozenset()
    ends_as: JobState = JobState.COMPLETED

    @property
    def fails(self) -> bool:
        return bool(self.reasons)


YESTERDAY: tuple[Part, ...] = (
    Part(name="digits-try", script="mlp_digits.py", args=("--epochs", "6")),
    Part(name="char-lm-try", script="char_lm.py", args=("--steps", "100")),
    Part(name="recsys-try", script="matrix_factorization.py", args=("--num-train-epochs", "5")),
    Part(name="policy-try", script="policy_gradient.py", args=("--max-steps", "60")),
)
"""Short first tries. They end before the rest is submitted, so there is a history."""

TODAY: tuple[Part, ...] = (
    Part(name="conv-net", script="conv_net.py", args=("--epochs", "10")),
    Part(name="clusters", script="kmeans.py", args=("--iterations", "40")),
    Part(
        name="odd-failure",
        script="odd_failure.py",
        reasons=frozenset({"data_error"}),
        ends_as=JobState.FAILED,
    ),
    Part(name="digits-long", script="mlp_digits.py", args=("--epochs", "50")),
    Part(name="char-lm-long", script="char_lm.py", args=("--steps", "700")),
    Part(
        name="autoencoder",
        script="hanging.py",
        reasons=frozenset({"hang"}),
    ),
    Part(name="recsys-long", script="matrix_factorization.py", args=("--num-train-epochs", "24")),
    Part(name="policy-long", script="policy_gradient.py", args=("--max-steps", "200")),
    Part(
        name="killed-once",
        script="resumable.py",
        args=("--steps", "160", "--killed-at", "90", "--checkpoint-dir", "checkpoints"),
        reasons=frozenset({"killed"}),
    ),
    Part(name="digits-short", script="mlp_digits.py", args=("--epochs", "4")),
    Part(
        name="wrong-shape",
        script="wrong_shape.py",
        reasons=frozenset({"shape_mismatch"}),
        ends_as=JobState.FAILED,
    ),
    Part(name="char-lm-short", script="char_lm.py", args=("--steps", "150")),
)
"""All submitted at once. The first two take the machine; the long ones come next, as it happens."""
