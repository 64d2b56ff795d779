from lightning.pytorch.cli import LightningCLI

from seg.data import Cityscapes  # noqa: F401
from seg.model import SegModel  # noqa: F401


class CLI(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.link_arguments("model.init_args.n_classes", "data.init_args.n_classes")


def main():
    CLI(save_config_kwargs={"overwrite": True})


if __name__ == "__main__":
    main()
