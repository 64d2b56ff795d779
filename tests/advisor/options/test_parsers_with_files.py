"""Parsers of a job that add a config file to `HfArgumentParser`."""

from advisor.launch.trees import Tree, assert_found

FILES = """\
=== tune.py
import dataclasses
import sys
from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

class FileParser(HfArgumentParser):
    def parse_yaml_and_args(self, yaml_arg, other_args=None):
        read = self.parse_yaml_file(yaml_arg)
        words = {arg.split("=")[0].strip("-"): arg.split("=")[1] for arg in other_args}
        made = []
        for one, cls in zip(read, self.dataclass_types):
            keys = {f.name for f in dataclasses.fields(one) if f.init}
            inputs = {k: v for k, v in vars(one).items() if k in keys}
            for name, value in words.items():
                if name in keys:
                    inputs[name] = value
            made.append(cls(**inputs))
        return made

@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="gpt2")

@dataclass
class OwnArguments(TrainingArguments):
    optim: str = field(default="adamw_torch")

parser = FileParser((ModelArguments, OwnArguments))
model_args, training_args = parser.parse_yaml_and_args(sys.argv[1], sys.argv[2:])
model = AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path)
Trainer(model=model, args=training_args).train()
=== config.yaml
model_name_or_path: facebook/opt-125m
learning_rate: 2.0e-05
save_strategy: epoch
output_dir: out
num_train_epochs: 9
=== zero.json
{"zero_optimization": {"stage": 3}}
"""


def test_the_command_line_goes_over_the_file(tmp_path):
    words = "torchrun --nproc_per_node 4 tune.py config.yaml --deepspeed=zero.json"
    more = (
        ("learning_rate", 3e-5),
        ("parallelism", "zero3"),
        ("checkpoint_every", 1),
        ("model", "facebook/opt-125m"),
    )
    tree = Tree("file", FILES, f"-- {words} --learning_rate=3e-5", entry="tune.py", more=more)
    assert_found(tree, tmp_path)
