"""Started as `python -m mynet.train SUBCOMMAND`."""

import argparse

from lightning import Trainer

from .settings import MAX_EPOCHS


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    fit = commands.add_parser("fit")
    fit.add_argument("--batch-size", type=int, default=16)
    test = commands.add_parser("test")
    test.add_argument("--batch-size", type=int, default=256)
    fit.set_defaults(batch_size=24)
    args = parser.parse_args()
    Trainer(max_epochs=MAX_EPOCHS).fit(args)


main()
