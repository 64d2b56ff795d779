"""Which words name a count, in the languages that people write their prints in."""

from __future__ import annotations

from typing import Literal

Level = Literal["outer", "epoch", "step", "sample", "token"]
"""From the coarsest to the finest: folds hold epochs, epochs steps, steps samples."""

_BEFORE: dict[Level, str] = {
    "outer": "fold folds round rounds generation generations gen trial trials task tasks seed "
    "repeat runde раунд ラウンド",
    "epoch": "epoch epochs ep epoche epochen époque époques epoque época épocas epoca epocas epok "
    "epoka эпоха эпохи エポック 轮 轮次 에포크",
    "step": "global_step global_steps globalstep train_step training_step train_iter "
    "train_iteration training_iteration opt_step optimizer_step env_step env_steps step steps "
    "timestep timesteps iter iters iteration iterations itr itrs n_iter num_iter it update updates "
    "num_updates batch minibatch mini_batch episode episodes schritt schritte étape etape paso "
    "passo iteración iteração itération iterazione шаг итерация ステップ 步 迭代 스텝",
    "sample": "sample samples example examples image images samples_seen samples_processed "
    "examples_seen images_seen consumed_samples",
    "token": "token tokens tokens_seen tokens_processed consumed_tokens",
}
_AFTER: dict[Level, str] = {
    "outer": "folds rounds generations trials tasks",
    "epoch": "epochs epochen époques épocas epocas эпох 轮",
    "step": "steps timesteps iters iterations batches updates episodes schritte pasos шагов 步",
    "sample": "samples examples images",
    "token": "tokens",
}
_QUALIFIED: dict[str, tuple[Level, ...]] = {
    "global": ("step",),
    "train": ("step",),
    "training": ("step",),
    "opt": ("step",),
    "optimizer": ("step",),
    "env": ("step",),
    "consumed": ("sample", "token"),
}
"""Words that belong to the name of what is counted: `global step`, `consumed samples`."""
_PARTICIPLES = ("seen", "processed")
LETTERS: dict[str, Level] = {"e": "epoch", "s": "step", "i": "step", "b": "step"}
"""`E3 S100/500`: one letter names a count only beside another."""


def _by_word(words: dict[Level, str]) -> dict[str, Level]:
    return {word: level for level, names in words.items() for word in names.split()}


WORDS: dict[str, Level] = _by_word(_BEFORE)
NAMES: dict[str, Level] = WORDS | LETTERS
PLURALS: dict[str, Level] = _by_word(_AFTER)


def name_of(word: str, before: list[str]) -> tuple[Level, str, str] | None:
    """The level and whole name that a word and those before it give, and what stands before."""
    level = NAMES.get(word)
    last = before[-1] if before else ""
    earlier = before[-2] if len(before) > 1 else ""
    if level is not None:
        qualified = level in _QUALIFIED.get(last, ())
        return (level, f"{last} {word}", earlier) if qualified else (level, word, last)
    level = NAMES.get(last) if word in _PARTICIPLES else None
    return None if level not in ("sample", "token") else (level, f"{last} {word}", earlier)
