"""The ablation: what a part is good for shows when it is dropped, and nothing else changes."""

from __future__ import annotations

from collections import defaultdict

from bench.accuracy.advice_ablation import Effect, ablate, parts
from bench.corpora.advice_cases import OWN, read_cases


def test_parts_that_a_job_rests_on_are_found_and_others_are_idle():
    (case,) = [each for each in read_cases(OWN) if each.name == "encoder_tagger_literals"]
    effects: defaultdict[str, Effect] = defaultdict(Effect)

    ablate(case, case.files, effects, options=False)

    assert effects["reader optimizers"].lost == 1
    assert effects["reader torch_modules"].lost
    assert effects["reader optimizers"].jobs == {case.name}
    assert "framework keras" not in effects
    assert {*effects} <= {*parts(options=False)}


def test_a_way_to_declare_options_is_dropped_by_interpreting_anew():
    (case,) = [each for each in read_cases(OWN) if each.name == "word_lstm_options"]
    effects: defaultdict[str, Effect] = defaultdict(Effect)

    ablate(case, case.files, effects, options=True)

    assert effects["options argparse_models"].lost
    assert not effects["options click_models"].jobs
    assert effects["rule no_heads_without_attention"].lost == 1
