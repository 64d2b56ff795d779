import os

import evaluate
import fire
import torch
from datasets import load_dataset
from peft import LoraConfig, PeftModel, TaskType, get_peft_model
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

BASE = "roberta-large"
KEYS = {
    "cola": ("sentence", None),
    "mrpc": ("sentence1", "sentence2"),
    "rte": ("sentence1", "sentence2"),
    "sst2": ("sentence", None),
}


def _data(task, tok, batch_size):
    a, b = KEYS[task]
    ds = load_dataset("glue", task)
    ds = ds.map(
        lambda e: tok(e[a], truncation=True) if b is None else tok(e[a], e[b], truncation=True),
        batched=True,
        remove_columns=["idx"] + [k for k in (a, b) if k],
    ).rename_column("label", "labels")

    def collate(items):
        return tok.pad(items, padding="longest", return_tensors="pt")

    train = DataLoader(ds["train"], shuffle=True, collate_fn=collate, batch_size=batch_size)
    val = DataLoader(ds["validation"], collate_fn=collate, batch_size=64)
    return train, val


def _score(model, loader, task):
    metric = evaluate.load("glue", task)
    model.eval()
    for b in loader:
        b = b.to("cuda")
        with torch.no_grad():
            out = model(**b).logits.argmax(-1)
        metric.add_batch(predictions=out, references=b["labels"])
    return metric.compute()


class Commands:
    """fire: `train` and `test`"""

    def train(self, task="mrpc", rank=8, lr=3e-4, epochs=20, batch_size=16, warmup=0.06, bf16=False, out="adapters"):
        tok = AutoTokenizer.from_pretrained(BASE, padding_side="right")
        train, val = _data(task, tok, batch_size)
        model = AutoModelForSequenceClassification.from_pretrained(BASE, return_dict=True)
        model = get_peft_model(
            model,
            LoraConfig(task_type=TaskType.SEQ_CLS, r=rank, lora_alpha=2 * rank, lora_dropout=0.1),
        )
        model.print_trainable_parameters()
        model.cuda()
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        total = len(train) * epochs
        sched = get_linear_schedule_with_warmup(opt, int(warmup * total), total)
        best = 0.0
        for epoch in range(epochs):
            model.train()
            for b in train:
                b = b.to("cuda")
                with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
                    loss = model(**b).loss
                loss.backward()
                opt.step()
                sched.step()
                opt.zero_grad()
            res = _score(model, val, task)
            print(epoch, res)
            if res["accuracy"] > best:
                best = res["accuracy"]
                model.save_pretrained(os.path.join(out, f"{task}-r{rank}"))
        print("best", best)

    def test(self, adapter, task="mrpc", batch_size=256):
        tok = AutoTokenizer.from_pretrained(BASE)
        _, val = _data(task, tok, batch_size)
        model = AutoModelForSequenceClassification.from_pretrained(BASE)
        print(_score(PeftModel.from_pretrained(model, adapter).cuda(), val, task))


if __name__ == "__main__":
    fire.Fire(Commands)
