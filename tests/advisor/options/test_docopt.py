"""docopt: options out of the text that a program shows of itself."""

from __future__ import annotations

from advisor.options.interpreting import job

CODE = '''
    """A translator.

    Usage:
        run.py train --train-src=<file> [options] <name>
        run.py decode [options] <name>

    Options:
        -h --help                   show this screen.
        --cuda                      use GPU
        --train-src=<file>          train source file
        -b SIZE --batch-size=SIZE   batch size [default: 32]
        --lr=<float>                learning rate
                                    [default: 0.001]
        --max-epoch=<int>           max epoch [default: 30]
    """
    from docopt import docopt
    from lib import library

    def main():
        args = docopt(__doc__)
        if args["train"]:
            library(lr=float(args["--lr"]), batch=int(args["--batch-size"]), cuda=args["--cuda"])
        elif args["decode"]:
            library(decode=True)

    if __name__ == "__main__":
        main()
    '''


def test_defaults_and_what_the_command_line_gives(tmp_path) -> None:
    run = job(tmp_path, "run.py train --train-src=a.txt -b 64 --cuda first", {"run.py": CODE})
    assert run.told("lib.library") == {"lr": 0.001, "batch": 64, "cuda": True}
    assert len([call for call in run.trace.calls if call.callee == "lib.library"]) == 1
    assert run.said("batch_size")[:2] == ("64", "cli")
    assert run.said("max_epoch") == ("30", "code", "run.py:14")
    assert run.said("lr") == ("0.001", "code", "run.py:12")
    assert run.options["name"] == "first"
