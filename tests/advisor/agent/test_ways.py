"""A pointer that shows the way: what it points at is read, and believed where it is fuller."""

from __future__ import annotations

import pytest

TRAINS = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default={epochs})
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()


def main():
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        optimizer.step()


if __name__ == "__main__":
    main()
"""
LOST = {
    "one/train.py": TRAINS.format(epochs=3),
    "two/train.py": TRAINS.format(epochs=5),
    "notes.py": "print('no training')\n",
}


def points_at(key, value):
    def script(schema, _):
        return {name: value if name == key else "none" for name in schema.model_fields}

    return script


@pytest.mark.parametrize(("program", "epochs"), [("one/train.py", 3), ("two/train.py", 5)])
def test_a_lost_program_is_read_where_it_is_pointed_at(job, program, epochs):
    advised, asker = job(
        LOST, points_at("program", program), command=("./launcher.bin", "--lr", "1")
    )
    assert "./launcher.bin --lr 1" in asker.asked[0].prompt
    record = advised.advice.workload
    assert (record.entry_point.value, record.epochs.value) == (program, epochs)
    assert record.learning_rate.value == 1
    assert record.epochs.source == "code"
    assert record.epochs.confidence <= 0.5


def test_a_program_that_is_known_is_not_asked_about(job):
    advised, asker = job(
        LOST, points_at("program", "two/train.py"), command=("python", "one/train.py")
    )
    assert advised.advice.workload.epochs.value == 3
    assert all("program" not in each.schema.model_fields for each in asker.asked)


def test_what_no_program_of_the_tree_fits_is_not_asked_about(job):
    _, asker = job({"notes.py": "print(1)\n"}, [], command=("./launcher.bin",))
    assert asker.asked == []


BRANCHES = """\
#!/bin/bash
if [ "$(hostname)" = other ]; then
    python train.py --epochs 7
else
    python train.py --epochs 9
fi
"""


@pytest.mark.parametrize("epochs", [7, 9])
def test_of_branches_that_are_not_decided_the_one_pointed_at_is_read(job, epochs):
    files = {"train.py": TRAINS.format(epochs=3), "job.sh": BRANCHES}
    way = f"train.py --epochs {epochs}"
    advised, asker = job(files, points_at("branch", way), command=("bash", "job.sh"))
    assert "python train.py --epochs 7" in asker.asked[0].prompt
    assert advised.advice.workload.epochs.value == epochs


CONFIGURED = """\
import sys
import torch
import yaml

with open(sys.argv[1]) as file:
    config = yaml.safe_load(file)
optimizer = torch.optim.SGD([], lr=config["lr"])
for epoch in range(config["epochs"]):
    optimizer.step()
"""


def test_a_config_that_is_not_there_is_read_where_it_is_pointed_at(job):
    files = {
        "train.py": CONFIGURED,
        "conf/small.yaml": "epochs: 4\nlr: 0.5\n",
        "conf/large.yaml": "epochs: 40\nlr: 0.05\n",
        "job.sh": "#!/bin/bash\npython train.py $CONFIG.yaml\n",
    }
    plain, _ = job(files, None, command=("bash", "job.sh"))
    assert plain.advice.workload.epochs is None
    advised, asker = job(files, points_at("config", "conf/large.yaml"), command=("bash", "job.sh"))
    record = advised.advice.workload
    assert (record.epochs.value, record.learning_rate.value) == (40, 0.05)
    assert (record.epochs.source, record.epochs.evidence[0].file) == ("config", "conf/large.yaml")
    assert record.epochs.confidence <= 0.5
    assert "$CONFIG.yaml" in asker.asked[0].prompt


def test_a_way_that_leads_to_nothing_more_is_not_believed(job):
    files = {
        "train.py": CONFIGURED,
        "conf/other.yaml": "colour: red\n",
        "conf/third.yaml": "shape: round\n",
        "job.sh": "#!/bin/bash\npython train.py $CONFIG.yaml\n",
    }
    plain, _ = job(files, None, command=("bash", "job.sh"))
    advised, _ = job(files, points_at("config", "conf/other.yaml"), command=("bash", "job.sh"))
    assert advised.advice.workload == plain.advice.workload
