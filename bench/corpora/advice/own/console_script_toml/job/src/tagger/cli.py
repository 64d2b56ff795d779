import argparse
import tomllib
from pathlib import Path

from tagger.loop import run


def _assign(tree, dotted):
    key, _, raw = dotted.partition("=")
    *parents, leaf = key.split(".")
    for p in parents:
        tree = tree.setdefault(p, {})
    tree[leaf] = tomllib.loads(f"v = {raw}")["v"]


def train(argv=None):
    ap = argparse.ArgumentParser(prog="tagger-train")
    ap.add_argument("config", type=Path)
    ap.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets")
    args = ap.parse_args(argv)
    config = tomllib.loads(args.config.read_text("utf-8"))
    for one in args.sets:
        _assign(config, one)
    run(config)
