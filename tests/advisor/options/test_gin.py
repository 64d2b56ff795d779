"""gin-config: what its files bind reaches the calls that leave it open."""

from __future__ import annotations

from advisor.options.interpreting import job

CODE = """
    import gin
    from absl import app, flags
    import torch
    from lib import library

    flags.DEFINE_multi_string("gin_file", None, "configs")
    flags.DEFINE_multi_string("gin_param", None, "bindings")
    FLAGS = flags.FLAGS

    @gin.configurable
    class Trainer:
        def __init__(self, model, learning_rate, steps=gin.REQUIRED, optimizer=None):
            library(lr=learning_rate, steps=steps, model=model)
            optimizer([1], lr=learning_rate)

    @gin.configurable("net")
    def net(width, depth=2):
        return width * depth

    @gin.configurable
    def unused(batch_size):
        library(batch_size=batch_size)

    gin.external_configurable(torch.optim.Adam, name="Adam")

    def main(argv):
        gin.parse_config_files_and_bindings(FLAGS.gin_file, FLAGS.gin_param)
        Trainer("given", steps=gin.REQUIRED)

    if __name__ == "__main__":
        app.run(main)
    """
FILES = {
    "train.py": CODE,
    "configs/base.gin": "Trainer.learning_rate = 1.0\nTrainer.steps = 5\n",
    "configs/run.gin": """
        include 'configs/base.gin'
        import lib
        # a comment: Trainer.steps = 1
        rate = 3e-4
        Trainer.model = "from the config"
        train/Trainer.learning_rate = %rate
        Trainer.optimizer = @Adam
        unused.batch_size = 32
        net.width = [
            1,  # "]
            2,
        ]
        """,
}


def test_bindings_reach_the_calls(tmp_path) -> None:
    run = job(tmp_path, "train.py --gin_file=configs/run.gin", FILES)
    assert run.told("lib.library") == {"lr": 3e-4, "steps": 5, "model": "given"}
    assert run.told("torch.optim.Adam") == {"lr": 3e-4}
    assert run.said("Trainer.learning_rate") == (3e-4, "config", "configs/run.gin:4")
    assert run.said("Trainer.steps") == (5, "config", "configs/base.gin:2")


def test_bindings_of_what_is_not_called_are_not_said(tmp_path) -> None:
    run = job(tmp_path, "train.py --gin_file=configs/run.gin", FILES)
    assert "unused.batch_size" not in run.options


def test_bindings_of_the_command_line_come_last(tmp_path) -> None:
    words = "train.py --gin_file=configs/run.gin --gin_param='Trainer.steps = 9'"
    assert job(tmp_path, words, FILES).said("Trainer.steps")[:2] == (9, "cli")


def test_files_that_include_themselves_end(tmp_path) -> None:
    files = {**FILES, "configs/run.gin": "include 'configs/run.gin'\nTrainer.steps = [[(\n"}
    assert (
        "Trainer.steps" not in job(tmp_path, "train.py --gin_file=configs/run.gin", files).options
    )
