"""What a shell would make of a script, told without running it."""

import textwrap

import pytest

from schedmate.advisor.interpret.shell import Word, command_words, walk
from schedmate.advisor.sources.files import SourceFile


def script(text, *arguments, **before):
    source = SourceFile("job.sh", textwrap.dedent(text))
    words = command_words(("job.sh", *arguments))[1:]
    return walk(source, words, set_before={name: Word(value) for name, value in before.items()})


def shown(command):
    return " ".join(word.text if word.known else "?" for word in command.words)


def commands(text, *arguments, **before):
    return [shown(command) for command in script(text, *arguments, **before).commands]


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (
            "X=a/b.c.d; run ${X%.*} ${X%%.*} ${X##*/} ${X#*/} ${X/b/z} ${X//./-}",
            "run a/b.c a/b b.c.d b.c.d a/z.c.d a/b-c-d",
        ),
        (
            "X=aBc; run ${X,,} ${X^^} ${#X} ${X:1} ${X:0:2} ${X:+set} ${Y:+set}",
            "run abc ABC 3 Bc aB set",
        ),
        ("X=; run ${X:-a} ${X-b} ${Y-c} ${Z:=d} $Z", "run a c d d"),
        ("N=X; X=5; run ${!N}", "run 5"),
        (
            "A=2 B=3; run $((A*B+1)) $(( (A+B)%2 )) $((A**10)) $((B/A)) $((A>B?1:0))",
            "run 7 1 1024 1 0",
        ),
        ("A=2; let A=A*4; ((A+=1)); run $A", "run 9"),
        (
            "X=a.tar.gz; run $(basename /x/$X .gz) `dirname /x/y` $(echo $X | cut -d. -f2)",
            "run a.tar /x tar",
        ),
        ("run $(wc -w <<< 'a b c') $(echo A,B | tr ',' ' ') $(seq 1 3)", "run 3 A B 1 2 3"),
        ("run $(date) x$(nproc) $UNSET", "run ? ? ?"),
        ('A=(x \'y z\'); A+=(w); run ${A[0]} "${A[1]}" ${#A[@]} "${A[@]:1}"', "run x y z 3 y z w"),
        ('A=(x y z); run ${A[-1]} ${A[$I]} "${A[*]}"', "run z ? x y z"),
        ("A=(x x); run ${A[$SLURM_ARRAY_TASK_ID]}", "run x"),
        ("declare -A M=([a]=1 [b]=2); M[c]=3; K=b; run ${M[$K]} ${M[c]}", "run 2 3"),
        ("run {1..3} a{b,c}d '{1..3}'", "run 1 2 3 abd acd {1..3}"),
        ('A=\'x  y\'; run $A "$A"; B=$A; run "$B"', "run x y x  y"),
        ("run $'a\\tb' \"a\\$b\" 'c$d' e\\ f", "run a\tb a$b c$d e f"),
        ('CMD="run --a 1"; eval $CMD; eval "run $X"', "run --a 1"),
        ('run "$@"', "run"),
        ("cd a; cd b; run $(pwd) $PWD; cd -; run $PWD", "run a/b a/b"),
        ("IFS=, read -ra A <<< 'p,q'; run ${A[1]} ${#A[@]}", "run q 2"),
        (
            "run $(which python) $(command -v /opt/bin/python3.7) $(which nvcc)",
            "run python /opt/bin/python3.7 ?",
        ),
        ("read X Y <<< '1 2 3'; run $X \"$Y\"", "run 1 2 3"),
    ],
)
def test_expansions(lines, result):
    assert commands(lines)[0] == result


def test_what_is_tested_decides_what_runs():
    text = """\
    MODE=full
    if [ "$MODE" = full ] && [[ $MODE == f* ]]; then run yes; else run no; fi
    if [ -z "$NOWHERE_SET" ]; then NOWHERE_SET=4; fi
    case $MODE in half|quarter) run half ;; f*) run $NOWHERE_SET ;; *) run other ;; esac
    [ 3 -gt 2 ] || run no
    [[ -n $MODE && ! 1 -eq 2 ]] && run both
    test -f /no/such/file || run perhaps
    (( 2 > 1 )) && run reckoned
    """
    assert commands(text) == ["run yes", "run 4", "run both", "run perhaps", "run reckoned"]
    assert [command.conditional for command in script(text).commands] == [False] * 3 + [True, False]


def test_both_ways_are_followed_where_nobody_knows():
    text = """\
    A=1 B=2
    if [ "$UNKNOWN_DATA" = x ]; then A=5; B=2; run first; elif grep -q x y; then run second; fi
    case "$UNKNOWN_DATA" in x) C=1 ;; y) C=1 ;; *) C=1 ;; esac
    run $A $B $C
    """
    assert commands(text) == ["run first", "grep -q x y", "run second", "run ? 2 1"]


def test_a_branch_that_ends_the_script_is_not_what_it_is_about():
    text = """\
    X=1
    if [ "$UNKNOWN_DATA" = x ]; then X=2; exit 1; fi
    [ $# -gt 0 ] || { echo usage; exit 1; }
    run $X
    exit 0
    run never
    """
    assert commands(text) == ["echo usage", "run 1"]


def test_functions_have_arguments_and_locals():
    text = """\
    LR=1
    train() { local LR=$2; shift; run --model $name --lr $LR "$@"; }
    function twice { name=$1 && train "$@"; train "$@"; }
    twice big 0.5 --more
    run $LR $1
    """
    assert commands(text, "own") == [
        *["run --model big --lr 0.5 0.5 --more"] * 2,
        "run 1 own",
    ]


def test_a_function_that_calls_itself_ends():
    assert commands("f() { run; f; }; f")[0] == "run"


@pytest.mark.parametrize(
    "loop",
    [
        """\
        while [[ $# -gt 0 ]]; do
          case $1 in
            --epochs) EPOCHS=$2; shift 2 ;;
            --lr=*) LR="${1#*=}"; shift ;;
            *) REST+=("$1"); shift ;;
          esac
        done
        """,
        """\
        while (( $# )); do
          if [ "$1" = --epochs ]; then EPOCHS="$2"; shift; fi
          if [[ "$1" == --lr=* ]]; then LR=${1/--lr=/}; fi
          if [ "$1" = x ]; then REST=(x); fi
          shift
        done
        """,
    ],
)
def test_wrappers_that_parse_their_own_arguments(loop):
    text = "EPOCHS=1\n" + textwrap.dedent(loop) + 'run $EPOCHS $LR "${REST[@]}"\n'
    assert commands(text, "--epochs", "30", "--lr=0.1", "x") == ["run 30 0.1 x"]
    evidence = script(text, "--epochs", "30").commands[0].words[1].evidence
    assert evidence[0].file == "<command>"


def test_getopts():
    text = """\
    while getopts "e:v" opt; do case $opt in e) E=$OPTARG ;; v) V=1 ;; esac; done
    shift $((OPTIND-1))
    run $E $V $1
    """
    assert commands(text, "-v", "-e", "7", "rest") == ["run 7 1 rest"]


@pytest.mark.parametrize("options", ["-euo pipefail", "-e -o pipefail", "-ux", "+o errexit"])
def test_options_of_the_shell_leave_the_arguments_alone(options):
    assert commands(f"set {options}\nrun $1", "a") == ["run a"]
    assert commands(f"set {options} b\nrun $1", "a") == ["run b"]
    assert commands(f"set {options} -- c\nrun $1", "a") == ["run c"]


def test_loops_become_one_command_with_what_all_rounds_share():
    text = """\
    for lr in 0.1 0.2; do for seed in 1; do run --lr $lr --seed $seed; done; done
    for ((i=0; i<3; i++)); do ARGS="$ARGS --x$i"; done
    run $ARGS
    for f in *.yaml; do run $f; done
    for a in "$@"; do run $a; done
    while read -r line; do run $line; done < list
    """
    assert commands(text, "p") == [
        "run --lr ? --seed 1",
        "run ? --x0 --x1 --x2",
        "run ?",
        "run p",
        "run ?",
    ]


def test_of_a_path_that_changes_in_a_loop_the_beginning_stays():
    text = "for i in 2 3 4; do run --out results/lr_$i --lr $i conf_$i.yaml; done"
    words = script(text).commands[0].words
    assert [(word.text, word.known) for word in words[1:]] == [
        ("--out", True),
        ("results/lr_$…", False),
        ("--lr", True),
        ("2", False),
        ("conf_2.yaml", False),
    ]


def test_subshells_pipes_and_groups():
    text = """\
    (cd sub && A=2 run inner)
    run $A | tee -a log.txt
    { run one; run two; } > both.log 2>&1 &
    exec > all.log
    run three 2>/dev/null
    """
    found = script(text).commands
    assert [shown(each) for each in found] == [
        *("run inner", "run ?", "tee -a log.txt", "run one", "run two", "run three"),
    ]
    assert [each.cwd for each in found][:2] == ["sub", "."]
    assert found[0].env["A"].text == "2"
    assert found[2].piped
    assert [word.text for word in found[3].outputs] == ["both.log"]
    assert [word.text for word in found[5].outputs] == ["/dev/null", "all.log"]


def test_here_documents_are_files_at_the_lines_of_the_script():
    text = """\
    LR=0.1
    cat <<EOF > conf/a.yaml
    lr: $LR
    path: \\$HOME/${NOBODY}
    EOF
    cat > b.json <<'EOF'
    {"x": "$LR"}
    EOF
    echo "more: 1" >> conf/a.yaml
    python - --flag <<-END
    \tprint($LR)
    \tEND
    """
    found = script(text)
    assert found.written["conf/a.yaml"].text.splitlines()[2:4] == [
        "lr: 0.1",
        "path: $HOME/${NOBODY}",
    ]
    assert found.written["conf/a.yaml"].text.splitlines()[8] == "more: 1"
    assert found.written["b.json"].text.splitlines()[6] == '{"x": "$LR"}'
    assert found.written["b.json"].name == "job.sh"
    assert found.commands[-1].stdin.text.splitlines()[10] == "print(0.1)"


def test_exported_variables_reach_the_commands():
    text = """\
    export A=1 B
    B=2
    C=3
    set -a
    D=4
    set +a
    E=5 run
    """
    command = script(text).commands[0]
    assert {name: word.text for name, word in command.env.items()} == {
        "A": "1",
        "D": "4",
        "E": "5",
    } | {"B": "2"}
    assert command.env["D"].evidence[0].line == 5


def test_evidence_is_the_line_that_states_a_value():
    text = """\
    BASE="--a 1
      --b 2"
    EPOCHS=3
    ARGS="$BASE --epochs $EPOCHS"
    N=$((EPOCHS * 2))
    eval "run $ARGS $N"
    """
    words = script(text).commands[0].words
    assert [word.text for word in words] == ["run", "--a", "1", "--b", "2", "--epochs", "3", "6"]
    assert [word.evidence[0].line for word in words] == [6, 1, 1, 2, 2, 4, 3, 3]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "if",
            "if [",
            "for",
            "for x in",
            "case",
            "case x in",
            "case x in a)",
            "f() {",
            "((",
            "[[",
        ),
        *("${", "$(", "`", "'", '"', "<<", "<<EOF", "A=(", "a |", "a &&", "!", "done", ";;", ")"),
        *("while true; do :; done; run", "set --", "shift 99999999999", "eval eval eval", "${!x}"),
        *("$((1/0)) $((2**99999)) $((((((((1", "echo ${x:99999999999999999999}", "getopts a"),
    ],
)
def test_fragments_are_read(text):
    commands(text)
    commands(f"run first\n{text}\n")


def test_loops_in_loops_end():
    text = "for a in {1..99}; do " * 6 + "run $a; " + "done; " * 6
    assert commands(text)[0].startswith("run")
    assert commands("while :; do i=$((i+1)); done; run $i")[-1].startswith("run")
