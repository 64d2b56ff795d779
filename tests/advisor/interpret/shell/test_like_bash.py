"""Scripts made of harmless builtins are understood as bash itself runs them."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.advisor.interpret.shell import command_words, walk
from schedmate.advisor.sources.files import SourceFile

pytestmark = pytest.mark.processes

BASH = shutil.which("bash")
ARGUMENTS = ("one", "t wo")
START = "A=q B=w C=e L=(l)\n"
ONE_WORD = ["a", "b.c", "'p q'"]
"""The rounds of a loop become one command, so more of them cannot be compared."""
PRINTS = 'run() { printf "%s|" "$@"; printf "\\n"; }\n'

names = st.sampled_from("ABC")
values = st.sampled_from(["a", "b.c", "x/y.tar.gz", "3", "'p q'", '"r  s"', "''", "${A}k"])
uses = st.sampled_from(
    [
        *("$N", '"$N"', "${N:-d}", "${N%.*}", "${N%%.*}", "${N##*/}", "${N#*.}", "${N//a/z}"),
        *("${N^^}", "${#N}", '"${N:1:2}"', '$(basename "x/${N}y" .gz)', "$(echo $N | tr a-z A-Z)"),
        *("$(( ${#N} * 2 + 1 ))", "${N:+set}", '"$@"', "$1", "$#", '"${L[@]}"', "${L[1]}"),
        *("${#L[@]}", "x${N}y", '"${L[*]}"', "\\$N", "'$N'", "${L[0]%c}", "`echo $N`"),
    ]
)
expressions = st.builds(lambda use, name: use.replace("N", name), uses, names)
runs = st.lists(expressions, min_size=1, max_size=3).map(lambda parts: "run " + " ".join(parts))
simple = st.one_of(
    runs,
    st.builds("{}={}".format, names, values),
    st.builds("{}={}".format, names, expressions),
    st.builds('{}+="k m"'.format, names),
    st.builds("L=({} {})".format, values, values),
    st.just("L+=(n)"),
    st.just("shift"),
)


def compound(inner):
    blocks = st.lists(inner, min_size=1, max_size=3).map("; ".join)
    return st.one_of(
        st.builds(
            'if [ "${}" = {} ]; then {}; else {}; fi'.format,
            names,
            st.sampled_from(ONE_WORD),
            blocks,
            blocks,
        ),
        st.builds("for {} in {}; do {}; done".format, names, st.sampled_from(ONE_WORD), blocks),
        st.builds(
            'case "${}" in a*) {};; *c|3) {};; *) {};; esac'.format, names, blocks, blocks, blocks
        ),
        st.builds("f() {{ local {}=$1; {}; }}; f {}".format, names, blocks, expressions),
        st.builds('[[ "${}" == *c* ]] && {{ {}; }}'.format, names, blocks),
        st.builds('[ -z "${}" ] || {{ {}; }}'.format, names, blocks),
        st.builds("( {} )".format, blocks),
        st.builds("i=0; while [ $i -lt 1 ]; do i=$((i+1)); {}; done".format, blocks),
    )


statements = st.recursive(simple, compound, max_leaves=6)
scripts = st.lists(statements, min_size=2, max_size=8).map("\n".join)


@pytest.mark.skipif(BASH is None, reason="there is no bash to compare with")
@settings(max_examples=60, deadline=None)
@given(text=scripts)
def test_what_runs_is_what_bash_runs(text):
    command = [BASH, "-c", PRINTS + START + text, "job.sh", *ARGUMENTS]
    real = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found = walk(SourceFile("job.sh", START + text), command_words(("job.sh", *ARGUMENTS))[1:])
    ours = [
        ("".join(f"{word.text}|" for word in command.words[1:]) or "|") + "\n"
        for command in found.commands
        if command.words[0].text == "run"
    ]
    assert "".join(ours) == real.stdout
    assert all(word.known for command in found.commands for word in command.words)
