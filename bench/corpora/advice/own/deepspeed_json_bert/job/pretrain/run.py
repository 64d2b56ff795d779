import argparse
import os

import deepspeed
import torch
from transformers import BertConfig, BertForMaskedLM

from shards import PubmedShards

SIZES = {
    # name: (hidden, layers, heads, ffn)
    "base": (768, 12, 12, 3072),
    "large": (1024, 24, 16, 4096),
}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--shards", required=True)
    p.add_argument("--save", required=True)
    p.add_argument("--steps", type=int, default=100_000)
    p.add_argument("--save_every", type=int, default=1000)
    p.add_argument("--seq", type=int, default=128)
    p.add_argument("--large", action="store_true")
    p.add_argument("--local_rank", type=int, default=-1)
    deepspeed.add_config_arguments(p)
    return p.parse_args()


def build(large, seq):
    hidden, layers, heads, ffn = SIZES["large" if large else "base"]
    cfg = BertConfig(
        vocab_size=30522,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=ffn,
        max_position_embeddings=max(512, seq),
    )
    return BertForMaskedLM(cfg)


def forever(loader):
    epoch = 0
    while True:
        loader.dataset.shuffle(epoch)
        yield from loader
        epoch += 1


def main():
    args = arguments()
    deepspeed.init_distributed()
    model = build(args.large, args.seq)
    data = PubmedShards(args.shards, args.seq)
    engine, _, loader, _ = deepspeed.initialize(
        args=args, model=model, model_parameters=model.parameters(), training_data=data
    )

    path, state = engine.load_checkpoint(args.save)  # None, when there is nothing yet
    step = state["step"] if path else 0

    for batch in forever(loader):
        batch = {k: v.to(engine.device) for k, v in batch.items()}
        loss = engine(**batch).loss
        engine.backward(loss)
        engine.step()
        if not engine.is_gradient_accumulation_boundary():
            continue
        step += 1
        if step % 20 == 0 and engine.global_rank == 0:
            print(step, loss.item(), flush=True)
        if step % args.save_every == 0:
            engine.save_checkpoint(args.save, client_state={"step": step})
        if step >= args.steps:
            break


if __name__ == "__main__":
    main()
