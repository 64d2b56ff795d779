from advisor.frameworks.interpreted import statements
from schedmate.advisor.frameworks.shapes import module_shapes, torch_modules

NETWORK = """
from torch import nn
class Layer(nn.Module):
    def __init__(self, width, heads, layers=1): ...
class Decoder(nn.Module):
    def __init__(self, width, heads, layers): ...
class GPT(nn.Module):
    def __init__(self, vocab, ctx, layers, heads=4, width=64):
        self.first = Layer(8, 2)
"""


def told(directory, code, reader=module_shapes):
    found = statements(directory, code, readers=(reader,))
    return {each.field: (each.value.data, each.value.lines[0].line) for each in found}


def test_by_place_and_by_default(tmp_path):
    found = told(tmp_path, NETWORK + "d = Decoder(3, 3, 3)\nL = 12\nmodel = GPT(50304, 128, L)\n")
    assert found == {
        "vocab_size": (50304, 12),
        "sequence_length": (128, 12),
        "n_layer": (12, 11),
        "n_head": (4, 8),
        "d_model": (64, 8),
    }


def test_through_a_factory(tmp_path):
    code = NETWORK + "def gpt_large(**kw):\n    return GPT(9, 8, layers=24, width=1024, **kw)\n"
    found = told(tmp_path, code + "models = {'l': gpt_large}\nmodel = models['l'](heads=16)\n")
    assert (found["d_model"][0], found["n_layer"][0], found["n_head"][0]) == (1024, 24, 16)


def test_a_depth_alone_is_no_transformers(tmp_path):
    code = """
        from torch import nn
        class UNet(nn.Module):
            def __init__(self, base=64, depth=4): ...
        net = UNet()
    """
    assert told(tmp_path, code) == {}


def test_a_vocabulary_alone_is_one(tmp_path):
    code = """
        from torch import nn
        class LSTMLanguageModel(nn.Module):
            def __init__(self, vocab_size): ...
        net = LSTMLanguageModel(10000)
    """
    assert told(tmp_path, code) == {"vocab_size": (10000, 5)}


def test_queries_are_no_words(tmp_path):
    code = "from torch import nn\nquery_embed = nn.Embedding(100, 256)\n"
    assert told(tmp_path, code, torch_modules) == {}
