"""Whatever a script holds, it is read to its end."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedmate.advisor import Target
from schedmate.advisor.interpret.shell import read_directives
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.sources.files import SourceFile

ANYTHING = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FRAGMENTS = [
    *(
        "python ",
        "train.py ",
        "-m x ",
        "-c ",
        "- ",
        "srun ",
        "torchrun ",
        "bash ",
        "sbatch ",
        "eval ",
    ),
    *(
        "$A",
        "${A",
        "}",
        "${A:-",
        "${A[@]}",
        "${!A}",
        "${A//",
        "$((",
        "))",
        "$(",
        ")",
        "`",
        "$#",
        '"$@"',
    ),
    *("'", '"', "\\", "\n", ";", ";;", "&&", "||", "|", "&", "!", " ", "\t", "\0", "\r", "é", "#"),
    *(
        "<<EOF\n",
        "EOF\n",
        "<<< ",
        "> x ",
        ">> x ",
        "< job.sh ",
        "2>&1 ",
        "A=",
        "A=(",
        "A+=(",
        "A[1]=",
    ),
    *("if ", "then ", "else ", "elif ", "fi\n", "for A in ", "do ", "done\n", "while ", "until "),
    *(
        "case x in ",
        "x) ",
        "esac\n",
        "f() { ",
        "{ ",
        "} ",
        "(",
        "[ ",
        "] ",
        "[[ ",
        "]] ",
        "-z ",
        "= ",
    ),
    *(
        "local A=1 ",
        "export A ",
        "shift ",
        "set -- ",
        "read A ",
        "getopts a:b A ",
        "source job.sh ",
    ),
    *(
        "cd .. ",
        "exit ",
        "return ",
        "break ",
        "continue ",
        "let A++ ",
        "((A+=1)) ",
        "exec ",
        "make ",
    ),
    *(
        "#SBATCH --gres=gpu:",
        "#PBS -l select=",
        "#BSUB -gpu ",
        "#$ -l ",
        "#flux: -N",
        "*",
        "{1..9}",
    ),
    *("echo ", "cat ", "basename ", "seq ", "tr ", "cut ", "sed ", "printf ", "expr ", "wc -w "),
]
SHELLISH = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)


@ANYTHING
@given(text=st.one_of(SHELLISH, st.text()), arguments=st.lists(st.text(), max_size=4))
def test_as_a_script(tmp_path, text, arguments):
    (tmp_path / "train.py").write_text("")
    (tmp_path / "job.sh").write_text(text.replace("\0", ""), encoding="utf-8", errors="replace")
    target = Target(
        workdir=tmp_path,
        command=("job.sh", *arguments),
        script_text=text,
        script_name="job.sh",
        args=tuple(arguments),
        user="root",
        name="job",
    )
    launch = resolve(target)
    assert launch.main is None or launch.main in launch.runs


@ANYTHING
@given(words=st.lists(st.one_of(st.sampled_from([each.strip() for each in FRAGMENTS]), st.text())))
def test_as_a_command(tmp_path, words):
    resolve(Target(workdir=tmp_path, command=tuple(words), user="root", name="job"))


@pytest.mark.slow
@ANYTHING
@given(
    prefix=st.sampled_from(["#SBATCH", "#PBS", "#BSUB", "#$", "#flux:", "#COBALT"]),
    text=st.one_of(st.text(), st.from_regex(r"( -[A-Za-z-]{1,9}[ =][\w:=+,./-]{0,20}){1,4}")),
)
def test_as_directives(prefix, text):
    asked = read_directives(SourceFile("job.sh", f"{prefix}{text}\n"))
    assert asked.gpus is None or asked.gpus[0] >= 0
    asked.variables()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a|" * 100_000,
        "`" * 30_001,
        "A=(a)\n" + 'A+=("${A[@]}")\n' * 60 + "python t.py ${A[@]}",
        "f() { f a; f b; }; f",
        "A='eval $A; eval $A'; eval $A",
        "bash -c 'bash -c \"bash -c python\"'\n" * 3000,
        "if [ $Q = 1 ]; then " * 10_000,
        "".join(f"export A{i}=1\npython x.py\n" for i in range(4000)),
    ],
    ids=range(8),
)
def test_what_grows_without_end_is_cut_off(tmp_path, text):
    target = Target(
        workdir=tmp_path,
        command=("job.sh",),
        script_text=text,
        script_name="job.sh",
        user="root",
        name="job",
    )
    assert len(resolve(target).commands) < 30_000
