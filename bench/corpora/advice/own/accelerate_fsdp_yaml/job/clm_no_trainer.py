import argparse
import itertools
import math
import os

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, default_data_collator, get_scheduler


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--model", type=str, required=True)
    p.add_argument("--dataset", type=str, default="wikitext")
    p.add_argument("--dataset_config", type=str, default="wikitext-103-raw-v1")
    p.add_argument("--block_size", type=int, default=256)
    p.add_argument("--train_bs", type=int, default=4)
    p.add_argument("--eval_bs", type=int, default=8)
    p.add_argument("--grad_accum", type=int, default=8)
    p.add_argument("--lr", type=float, default=1e-4)
    p.add_argument("--weight_decay", type=float, default=0.0)
    p.add_argument("--num_train_epochs", type=int, default=3)
    p.add_argument("--max_train_steps", type=int, default=None, help="overrides num_train_epochs")
    p.add_argument("--checkpointing_steps", type=int, default=None)
    p.add_argument("--output_dir", type=str, default="out")
    p.add_argument("--seed", type=int, default=1234)
    return p.parse_args()


def build_data(args, tok, acc):
    raw = load_dataset(args.dataset, args.dataset_config)

    def group(batch):
        ids = list(itertools.chain.from_iterable(tok(batch["text"]).input_ids))
        n = len(ids) // args.block_size * args.block_size
        chunks = [ids[i:i + args.block_size] for i in range(0, n, args.block_size)]
        return {"input_ids": chunks, "labels": [list(c) for c in chunks]}

    with acc.main_process_first():
        data = raw.map(group, batched=True, batch_size=1000, remove_columns=["text"])
    train = DataLoader(data["train"], shuffle=True, collate_fn=default_data_collator, batch_size=args.train_bs)
    val = DataLoader(data["validation"], collate_fn=default_data_collator, batch_size=args.eval_bs)
    return train, val


def main():
    args = parse_args()
    acc = Accelerator(gradient_accumulation_steps=args.grad_accum)
    set_seed(args.seed)

    tok = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model)
    train, val = build_data(args, tok, acc)

    no_decay = ("bias", "layer_norm.weight")
    named = list(model.named_parameters())
    groups = [
        {"params": [p for n, p in named if not n.endswith(no_decay)], "weight_decay": args.weight_decay},
        {"params": [p for n, p in named if n.endswith(no_decay)], "weight_decay": 0.0},
    ]
    opt = torch.optim.AdamW(groups, lr=args.lr)

    per_epoch = math.ceil(len(train) / args.grad_accum)
    if args.max_train_steps is None:
        args.max_train_steps = args.num_train_epochs * per_epoch
    sched = get_scheduler("cosine", opt, num_warmup_steps=100 * acc.num_processes,
                          num_training_steps=args.max_train_steps * acc.num_processes)
    model, opt, train, val, sched = acc.prepare(model, opt, train, val, sched)

    done = 0
    epochs = math.ceil(args.max_train_steps / per_epoch)
    for epoch in range(epochs):
        model.train()
        for batch in train:
            with acc.accumulate(model):
                loss = model(**batch).loss
                acc.backward(loss)
                opt.step()
                sched.step()
                opt.zero_grad()
            if acc.sync_gradients:
                done += 1
                if args.checkpointing_steps and done % args.checkpointing_steps == 0:
                    acc.save_state(os.path.join(args.output_dir, f"step_{done}"))
            if done >= args.max_train_steps:
                break
        model.eval()
        losses = []
        for batch in val:
            with torch.no_grad():
                losses.append(acc.gather(model(**batch).loss.repeat(args.eval_bs)))
        acc.print(f"epoch {epoch} step {done} ppl {math.exp(torch.cat(losses).mean()):.2f}")


if __name__ == "__main__":
    main()
