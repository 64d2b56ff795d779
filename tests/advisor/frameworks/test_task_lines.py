from advisor.frameworks.interpreted import statements
from schedmate.advisor.frameworks.drivers import frameworks
from schedmate.advisor.frameworks.tasks import tasks


def told(directory, code, *arguments, entry="train.py", reader=tasks):
    found = statements(directory, code, *arguments, entry=entry, readers=(reader,))
    return [(each.value.data, [line.line for line in each.value.lines]) for each in found]


def test_every_kind_of_line_that_bears_the_task_out_is_shown(tmp_path):
    code = """
        import argparse
        import torch
        from torchvision.datasets import ImageFolder
        parser = argparse.ArgumentParser(description="PyTorch ImageNet Training")
        parser.add_argument("--data", default="/data/imagenet")
        args = parser.parse_args()
        data = ImageFolder(args.data)
        loss = torch.nn.CrossEntropyLoss()
        torch.optim.SGD(p, lr=0.1)
    """
    ((task, lines),) = told(tmp_path, code)
    assert task == "image_classification"
    assert {*lines} == {6, 8, 5, 9, 4}


def test_the_class_is_shown_where_it_is_named_not_where_its_instance_is_used(tmp_path):
    code = """
        from transformers import (
            AutoTokenizer,
            AutoModelForCausalLM,
        )
        model = AutoModelForCausalLM.from_pretrained("gpt2")
        model.resize_token_embeddings(8)
    """
    ((task, lines),) = told(tmp_path, code)
    assert (task, lines[0]) == ("language_modeling", 6)
    assert 4 in lines


def test_what_a_program_says_of_itself_is_better_than_nothing(tmp_path):
    code = '''
        """Train the UNet on images and target masks."""
        import torch
        loss.backward()
    '''
    assert told(tmp_path, code) == [("segmentation", [2])]


def test_a_command_of_the_program_that_evaluates(tmp_path):
    code = """
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        sub = parser.add_subparsers()
        train = sub.add_parser("train")
        evaluate = sub.add_parser("eval")
        args = parser.parse_args()
        loss.backward()
    """
    assert told(tmp_path, code, "eval") == [("evaluation", [1])]
    assert told(tmp_path, code, "train") == []


def test_what_only_answers_infers(tmp_path):
    code = "from vllm import LLM\nllm = LLM(model='gpt2')\nllm.generate(['a'])\n"
    assert told(tmp_path, code)[0][0] == "inference"
    assert told(tmp_path, code, reader=frameworks) == [("vllm", [1, 2])]


def test_the_import_of_the_trainer_itself_is_shown(tmp_path):
    code = """
        from transformers import AutoTokenizer
        from trl import SFTTrainer
        trainer = SFTTrainer(model="gpt2")
        trainer.train()
        trainer.model.save_pretrained("x")
    """
    assert told(tmp_path, code, reader=frameworks) == [("transformers", [3, 4])]


def test_a_class_that_is_never_made_says_nothing(tmp_path):
    code = """
        from torch import nn
        class AutoEncoder(nn.Module): ...
        class LSTMLanguageModel(nn.Module): ...
        model = LSTMLanguageModel()
        loss.backward()
    """
    assert told(tmp_path, code)[0][0] == "language_modeling"


def test_pictures_with_boxes_serve_other_ends(tmp_path):
    code = "import torch\nfrom torchvision.datasets import ImageFolder\n"
    code += "d = ImageFolder('/data/coco')\nloss.backward()\n"
    assert told(tmp_path, code, entry="neural_style/main.py")[0][0] == "other"
    assert told(tmp_path, code, entry="train.py")[0][0] == "object_detection"


def test_pictures_are_not_a_language(tmp_path):
    code = "from transformers import ViTMAEForPreTraining as M\nm = M(config)\n"
    assert told(tmp_path, code)[:1] != [("language_modeling", [2])]
