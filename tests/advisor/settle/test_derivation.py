from schedmate.advisor.settle.derivation import derived
from schedmate.model import Evidence, Finding

LINE = Evidence("train.py", 3, "model = 'x'")


def found(**values):
    return {
        field: Finding(value=value, source="code", evidence=(LINE,), confidence=0.8)
        for field, value in values.items()
    }


def said(**values):
    return {each.field: each.value.data for each in derived(found(**values))}


def test_a_models_name_says_its_dimensions():
    assert said(model="gpt2") == {
        "model_parameters": 124439808,
        "n_layer": 12,
        "d_model": 768,
        "n_head": 12,
        "vocab_size": 50257,
    }


def test_the_line_that_names_the_model_is_the_evidence():
    for each in derived(found(model="resnet50")):
        assert each.value.lines == (LINE,)
        assert each.value.source == "derived"
        assert each.confidence == 0.75


def test_what_is_stated_is_not_said_again():
    assert said(model="gpt2", n_layer=12, vocab_size=50304) == {
        "model_parameters": 124439808,
        "d_model": 768,
        "n_head": 12,
    }


def test_a_job_that_states_another_depth_has_another_model():
    assert said(model="bert-base-uncased", n_layer=4) == {}


def test_a_width_of_which_nobody_knows_better_changes_no_model():
    assert said(model="swin_t", d_model=96) == {"model_parameters": 28288354}


def test_a_gpt_is_counted_from_its_dimensions():
    dimensions = {"n_layer": 12, "d_model": 768, "vocab_size": 50304, "sequence_length": 1024}
    assert said(model="GPT", **dimensions) == {
        "model_parameters": 12 * 12 * 768**2 + (50304 + 1024) * 768
    }


def test_nothing_is_counted_where_a_dimension_is_missing_or_the_kind_is_unknown():
    assert said(model="GPT", n_layer=12, d_model=768) == {}
    assert said(model="Llama", n_layer=12, d_model=768, vocab_size=32000) == {}
    assert said() == {}
