"""C4 -> flat files of token ids."""
import argparse
import os

import numpy as np
from datasets import load_dataset
from tqdm import tqdm
from transformers import AutoTokenizer

from settings import CONTEXT, TOKENIZER


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dataset", default="allenai/c4")
    ap.add_argument("--subset", default="en")
    ap.add_argument("--out", required=True)
    ap.add_argument("--workers", type=int, default=8)
    ap.add_argument("--shards", type=int, default=100)
    ap.add_argument("--map-batch", type=int, default=2000)
    args = ap.parse_args()

    tok = AutoTokenizer.from_pretrained(TOKENIZER, use_fast=True)
    raw = load_dataset(args.dataset, args.subset)
    eos = tok.eos_token_id

    def encode(batch):
        ids = tok(batch["text"], add_special_tokens=False).input_ids
        flat = [t for doc in ids for t in doc + [eos]]
        n = len(flat) // CONTEXT * CONTEXT
        return {"ids": [flat[i:i + CONTEXT] for i in range(0, n, CONTEXT)]}

    done = raw.map(encode, batched=True, batch_size=args.map_batch, num_proc=args.workers,
                   remove_columns=raw["train"].column_names)
    os.makedirs(args.out, exist_ok=True)
    for split, data in done.items():
        n = args.shards if split == "train" else 1
        for k in tqdm(range(n), desc=split):
            part = data.shard(n, k, contiguous=True).with_format("numpy")
            np.concatenate([row["ids"] for row in part]).astype(np.uint16).tofile(
                os.path.join(args.out, f"{split}_{k:03d}.bin"))


if __name__ == "__main__":
    main()
