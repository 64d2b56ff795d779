"""A network trained by options of its own, some declared in another file."""

import argparse

import torch
from options import add_data_options

EPOCHS = 20


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", "-e", type=int, default=EPOCHS)
    parser.add_argument("--lr", type=float, default=6e-4)
    parser.add_argument("--d-model", type=int, default=4 * 64)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--save-every", type=int, default=500)
    add_data_options(parser)
    return parser.parse_args()


def main():
    args = parse()
    model = torch.nn.Linear(args.d_model, 10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for _ in range(args.epochs):
        optimizer.step()


if __name__ == "__main__":
    main()
