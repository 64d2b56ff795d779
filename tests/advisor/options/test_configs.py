"""hydra, OmegaConf, yacs, mmengine, ml_collections, LightningCLI: configs that words change."""

from __future__ import annotations

from advisor.options.interpreting import job

HYDRA = """
    import hydra
    from omegaconf import DictConfig, OmegaConf
    from lib import library

    @hydra.main(version_base=None, config_path="conf", config_name="config")
    def main(cfg: DictConfig) -> None:
        library(lr=cfg.optim.lr, epochs=cfg.epochs, steps=cfg.get("steps", 5))

    if __name__ == "__main__":
        main()
    """
HYDRA_FILES = {
    "train.py": HYDRA,
    "conf/config.yaml": "defaults:\n  - optim: adam\n  - _self_\nepochs: 3\nsave: ${epochs}\n",
    "conf/optim/adam.yaml": "name: adam\nlr: 0.1\n",
    "conf/optim/sgd.yaml": "name: sgd\nlr: 0.5\n",
}


def test_hydra_composes_and_the_command_line_has_the_last_word(tmp_path) -> None:
    run = job(tmp_path, "train.py optim=sgd epochs=9", HYDRA_FILES)
    assert run.told("lib.library") == {"lr": 0.5, "epochs": 9, "steps": 5}
    assert run.said("optim.lr") == (0.5, "config", "conf/optim/sgd.yaml:2")
    assert run.said("epochs")[:2] == (9, "cli")
    assert run.options["save"] == 9


def test_hydra_s_targets_are_called(tmp_path) -> None:
    code = """
    import hydra
    from hydra.utils import instantiate

    @hydra.main(config_path=".", config_name="config")
    def main(cfg):
        optimizer = instantiate(cfg.optim)
        optimizer(params=[])
        instantiate(cfg.model, width=3)

    main()
    """
    config = """
    optim: {_target_: torch.optim.AdamW, lr: 0.3, _partial_: true}
    model:
      _target_: models.Net
      depth: 12
    """
    models = """
    from lib import library

    class Net:
        def __init__(self, depth, width):
            library(depth=depth, width=width)
    """
    run = job(tmp_path, "t.py", {"t.py": code, "config.yaml": config, "models.py": models})
    assert run.told("torch.optim.AdamW")["lr"] == 0.3
    assert run.told("lib.library") == {"depth": 12, "width": 3}


def test_omegaconf_merges_files_and_words(tmp_path) -> None:
    code = """
    import sys
    from omegaconf import OmegaConf
    from lib import library

    base = OmegaConf.load("base.yaml")
    cfg = OmegaConf.merge(base, OmegaConf.load("exp.yaml"), OmegaConf.from_cli(sys.argv[1:]))
    library(lr=cfg.optim.lr, twice=cfg.also, name=cfg.optim.name, n=cfg["n"])
    """
    files = {
        "t.py": code,
        "base.yaml": "optim:\n  lr: 0.1\n  name: adam\nalso: ${optim.lr}\nn: 1\n",
        "exp.yaml": "n: 2\n",
    }
    run = job(tmp_path, "t.py optim.lr=0.7", files)
    assert run.told("lib.library") == {"lr": 0.7, "twice": 0.7, "name": "adam", "n": 2}
    assert run.said("n") == (2, "config", "exp.yaml:1")


def test_yacs_defaults_file_and_list(tmp_path) -> None:
    code = """
    import argparse
    from yacs.config import CfgNode as CN
    from lib import library

    _C = CN()
    _C.SOLVER = CN()
    _C.SOLVER.LR = 0.1
    _C.SOLVER.STEPS = 10
    _C.MODEL = CN(dict(NAME="resnet", DEPTH=50))

    parser = argparse.ArgumentParser()
    parser.add_argument("--cfg")
    parser.add_argument("opts", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    cfg = _C.clone()
    cfg.merge_from_file(args.cfg)
    cfg.merge_from_list(args.opts)
    cfg.freeze()
    library(lr=cfg.SOLVER.LR, steps=cfg.SOLVER.STEPS, name=cfg.MODEL.NAME, d=cfg.MODEL.DEPTH)
    library2(lr=_C.SOLVER.LR)
    """.replace("import library", "import library, library2")
    files = {
        "t.py": code,
        "sub/c.yaml": "_BASE_: ../base.yaml\nMODEL:\n  NAME: vit\n",
        "base.yaml": "MODEL:\n  DEPTH: 101\n  NAME: no\n",
    }
    run = job(tmp_path, "t.py --cfg sub/c.yaml SOLVER.LR 0.5", files)
    assert run.told("lib.library") == {"lr": 0.5, "steps": 10, "name": "vit", "d": 101}
    assert run.told("lib.library2") == {"lr": 0.1}
    assert run.said("SOLVER.LR")[:2] == (0.5, "cli")
    assert run.said("MODEL.NAME") == ("vit", "config", "sub/c.yaml:3")


def test_mmengine_follows_the_bases_of_a_config(tmp_path) -> None:
    code = """
    import argparse
    from mmengine.config import Config, DictAction
    from lib import library

    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("--cfg-options", nargs="+", action=DictAction)
    args = parser.parse_args()
    cfg = Config.fromfile(args.config)
    if args.cfg_options is not None:
        cfg.merge_from_dict(args.cfg_options)
    library(lr=cfg.optimizer.lr, kind=cfg.optimizer.type, epochs=cfg.train_cfg.max_epochs)
    """
    files = {
        "t.py": code,
        "configs/x.py": '_base_ = ["base/y.py"]\noptimizer = dict(lr=0.2)\n',
        "configs/base/y.py": """
            optimizer = dict(type="SGD", lr=0.1)
            train_cfg = dict(max_epochs=3)
        """,
    }
    run = job(tmp_path, "t.py configs/x.py --cfg-options train_cfg.max_epochs=8", files)
    assert run.told("lib.library") == {"lr": 0.2, "kind": "SGD", "epochs": 8}
    assert run.said("optimizer.lr") == (0.2, "config", "configs/x.py:2")
    assert run.said("train_cfg.max_epochs")[:2] == (8, "cli")


def test_ml_collections_follows_the_config_file(tmp_path) -> None:
    code = """
    from absl import app, flags
    from ml_collections import config_flags
    from lib import library

    FLAGS = flags.FLAGS
    config_flags.DEFINE_config_file("config", None, "help", lock_config=True)

    def main(_):
        library(lr=FLAGS.config.optim.lr, size=FLAGS.config.size, steps=FLAGS.config.steps)

    app.run(main)
    """
    config = """
    import ml_collections

    def get_config(size="small"):
        config = ml_collections.ConfigDict()
        config.optim = ml_collections.ConfigDict({"lr": 0.1})
        config.size = size
        config.steps = 100
        return config.lock()
    """
    files = {"t.py": code, "configs/c.py": config}
    run = job(tmp_path, "t.py --config=configs/c.py:large --config.optim.lr=0.5", files)
    assert run.told("lib.library") == {"lr": 0.5, "size": "large", "steps": 100}
    assert run.said("steps")[2] == "configs/c.py:7"


def test_lightning_cli_takes_configs_and_dotted_options(tmp_path) -> None:
    code = """
    from lightning.pytorch.cli import LightningCLI
    from lightning import LightningModule
    from lib import library

    class Model(LightningModule):
        def __init__(self, lr: float = 0.1, width: int = 8):
            super().__init__()
            library(lr=lr, width=width)

    cli = LightningCLI(Model)
    """
    config = "trainer:\n  max_epochs: 3\n  precision: 16\nmodel:\n  lr: 0.2\n"
    run = job(
        tmp_path,
        "t.py fit --config c.yaml --trainer.max_epochs 7",
        {"t.py": code, "c.yaml": config},
    )
    assert run.told("lib.library") == {"lr": 0.2, "width": 8}
    assert run.said("trainer.max_epochs")[:2] == (7, "cli")
    assert run.said("trainer.precision") == (16, "config", "c.yaml:3")


def test_detectron2_as_a_library(tmp_path) -> None:
    code = """
    from detectron2.config import get_cfg
    from detectron2.engine import DefaultTrainer, default_argument_parser, launch

    def main(args):
        cfg = get_cfg()
        cfg.merge_from_file(args.config_file)
        cfg.merge_from_list(args.opts)
        DefaultTrainer(cfg)

    if __name__ == "__main__":
        args = default_argument_parser().parse_args()
        launch(main, args.num_gpus, num_machines=1, args=(args,))
    """
    config = "SOLVER:\n  MAX_ITER: 900\n  IMS_PER_BATCH: 16\n"
    run = job(
        tmp_path,
        "t.py --config-file c.yaml --num-gpus 2 SOLVER.IMS_PER_BATCH 8",
        {"t.py": code, "c.yaml": config},
    )
    assert run.options["SOLVER.IMS_PER_BATCH"] == 8
    assert run.said("SOLVER.MAX_ITER") == (900, "config", "c.yaml:2")
    trainer = next(c for c in run.trace.calls if c.callee.endswith("DefaultTrainer"))
    assert trainer.positional[0].data.kind == "detectron2.config.CfgNode"


def test_what_the_code_computes_is_no_setting(tmp_path) -> None:
    code = """
    from yacs.config import CfgNode as CN
    from lib import world_size

    cfg = CN()
    cfg.LR = 0.1
    cfg.merge_from_file("c.yaml")
    cfg.LR = cfg.LR * world_size()
    cfg.freeze()
    """
    run = job(tmp_path, "t.py", {"t.py": code, "c.yaml": "LR: 0.2\n"})
    assert run.said("LR") == (0.2, "config", "c.yaml:1")


def test_a_config_that_the_code_opens_is_settings(tmp_path) -> None:
    code = """
    import argparse, json, yaml
    from easydict import EasyDict
    from lib import library

    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    args = parser.parse_args()
    with open(args.config) as file:
        cfg = EasyDict(yaml.safe_load(file))
    labels = json.load(open("labels.json"))
    library(lr=cfg.train.lr, labels=labels["depth"])
    """
    files = {"t.py": code, "c.yaml": "train:\n  lr: 0.2\n", "labels.json": '{"depth": 3}'}
    run = job(tmp_path, "t.py --config c.yaml", files)
    assert run.told("lib.library") == {"lr": 0.2, "labels": 3}
    assert run.said("train.lr") == (0.2, "config", "c.yaml:2")
    assert "depth" not in run.options


def test_hydra_before_it_had_targets(tmp_path) -> None:
    code = """
    import hydra
    from lib import library

    class Agent:
        def __init__(self, lr, encoder):
            library(lr=lr, encoder=encoder)

    @hydra.main(config_path="conf/config.yaml", strict=True)
    def main(cfg):
        hydra.utils.instantiate(cfg.agent)

    if __name__ == "__main__":
        main()
    """
    config = "lr: 0.5\nagent:\n  class: train.Agent\n  params:\n    lr: ${lr}\n    encoder: cnn\n"
    run = job(tmp_path, "train.py lr=0.25", {"train.py": code, "conf/config.yaml": config})
    assert run.told("lib.library") == {"lr": 0.25, "encoder": "cnn"}


def test_the_configs_of_a_project_whose_top_is_looked_for(tmp_path) -> None:
    code = """
    import hydra, rootutils
    from lib import library
    root = rootutils.setup_root(search_from=__file__, indicator=".git", pythonpath=True)

    @hydra.main(config_path=f"{root}/configs", config_name="config.yaml")
    def main(cfg):
        library(lr=cfg.lr)

    if __name__ == "__main__":
        main()
    """
    files = {"scripts/train.py": code, "configs/config.yaml": "lr: 0.5\n"}
    assert job(tmp_path, "scripts/train.py", files).told("lib.library") == {"lr": 0.5}
    nowhere = {"train.py": code.replace("rootutils.setup_root", "elsewhere.top"), **files}
    assert job(tmp_path, "train.py", nowhere).told("lib.library") == {"lr": 0.5}
