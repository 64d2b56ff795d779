"""Options that several programs share."""


def add_data_options(parser):
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--dataset", default="cifar10")


if __name__ == "__main__":
    import argparse

    only_here = argparse.ArgumentParser()
    only_here.add_argument("--max-steps", type=int, default=7)
