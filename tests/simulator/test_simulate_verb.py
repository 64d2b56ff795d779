"""`schedmate simulate`, as a user calls it."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import json
import os
import pty
import random
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from schedmate.cli import main
from schedmate.cli.simulate import _tasks, command
from schedmate.policies import POLICIES
from schedmate.simulator.estimators.controls import CONTROLS

SOURCE = Path(__file__).parents[2] / "src"
TRACE = """job_id,user,submit_time,duration,gpus,group
a,ada,0,100,1,x
b,bob,0,10,1,y
c,ada,0,1,1,x
"""
SUMMARY = {
    "avg_jct_s",
    "p50_jct_s",
    "p99_jct_s",
    "avg_queue_s",
    "makespan_s",
    "gpu_utilization",
    "preemptions",
    "wall_seconds",
    "requeues",
    "avg_slowdown",
    "worst_user_slowdown",
    "worst_wait_s",
}
OF_THE_ANSWER = {"report", "table", "workers", "ray_address", "as_json"}
PUBLIC = ["schema", "trace", "jobs", "gpus", "assumptions", "policies"]


@pytest.fixture
def call(capsys):
    """Run the verb; return exit code, data and talk."""

    def run(*args: str):
        with pytest.raises(SystemExit) as ended:
            main(["simulate", *args])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


@pytest.fixture
def trace(tmp_path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


def without_wall(text: str) -> list[dict[str, object]]:
    told = [json.loads(line) for line in text.splitlines()]
    for each in told:
        for summary in each["policies"].values():
            del summary["wall_seconds"]
    return told


def test_json_is_the_public_object_and_what_was_added_stands_at_its_end(call, trace):
    code, out, err = call(str(trace), "--policy", "fifo,sjf-oracle", "--gpus", "1", "--json")

    data = json.loads(out)
    assert (code, err) == (0, "")
    assert list(data) == [*PUBLIC, "load", "times_better", "kinds"]
    assert (data["schema"], data["jobs"], data["gpus"]) == ("schedmate.simulation/1", 3, 1)
    assert list(data["policies"]) == ["fifo", "sjf-oracle"]
    assert set(data["policies"]["fifo"]) == SUMMARY
    assert data["policies"]["fifo"]["avg_jct_s"] == pytest.approx((100 + 110 + 111) / 3)
    assert data["policies"]["sjf-oracle"]["avg_jct_s"] == pytest.approx((1 + 11 + 111) / 3)
    assert data["times_better"]["sjf-oracle"] == pytest.approx(321 / 123)
    assert data["kinds"] == {"fifo": "beside", "sjf-oracle": "oracle"}
    assert data["load"] is None


def test_the_table_compares_with_the_first_policy(call, trace):
    code, out, _ = call(str(trace), "--policy", "fifo,sjf-oracle", "--gpus", "1")

    assert code == 0
    assert "2.61x" in out
    assert "- sjf-oracle: knows every run time beforehand (oracle)" in out


def test_policies_of_each_kind_have_a_table_of_their_own(call, trace):
    _, out, _ = call(str(trace), "--policy", "las,fifo,sjf-oracle,easy", "--gpus", "1")

    lines = out.splitlines()
    assert lines[1] == "beside an unmodified scheduler:"
    assert [line.split()[0] for line in lines[2:5]] == ["policy", "fifo", "easy"]
    assert lines[5] == "inside a scheduler that asks:"
    assert [line.split()[0] for line in lines[6:8]] == ["policy", "las"]
    assert lines[8] == "reference: knows the true run times:"
    assert [line.split()[0] for line in lines[9:11]] == ["policy", "sjf-oracle"]
    assert lines[2] == lines[6] == lines[9]
    assert "vs las" in lines[2]


@pytest.fixture
def drawn_by_chance(tmp_path) -> Path:
    """A user's own table, in which nothing tells how long a job runs."""
    chance, path = random.Random(3), tmp_path / "jobs.csv"
    rows = [
        f"{number},u{chance.randrange(9)},{number * 200},{chance.lognormvariate(7, 1.5):.0f},1\n"
        for number in range(150)
    ]
    path.write_text("job_id,user,submit_time,duration,gpus\n" + "".join(rows))
    return path


@pytest.mark.processes
def test_no_code_is_invented_for_a_table(call, drawn_by_chance):
    asked = (str(drawn_by_chance), "--policy", "easy,easy+schedmate,lucid,lucid+schedmate")

    code, plain, err = call(*asked, "--json")
    _, without, silent = call(*asked, "--no-workload", "--json")
    _, table, _ = call(*asked)

    assert code == 0
    assert without_wall(plain) == without_wall(without)
    data = json.loads(plain)
    assert data["policies"]["easy+schedmate"]["code"] == "none"
    assert "code" not in data["policies"]["easy"]
    assert "code" not in data["policies"]["lucid"]
    assert "semi-synthetic" not in " ".join(data["assumptions"])
    assert "how a job fares on other GPUs than it asked for is unknown" in plain
    assert re.search(r"^easy\+schedmate +none ", table, re.MULTILINE)
    assert "--workload gives each job synthetic code" in err
    assert silent == ""


@pytest.mark.slow
def test_synthetic_code_that_is_asked_for_is_named_in_its_rows(call, drawn_by_chance, tmp_path):
    saved, page = tmp_path / "all.csv", tmp_path / "report.html"
    asked = (str(drawn_by_chance), "--policy", "easy,easy+schedmate", "--workload")

    code, table, err = call(*asked, "--save", str(saved), "--report", str(page))
    _, found, _ = call(*asked, "--json")
    _, swept, _ = call(*asked, "--sweep", "seed=0,1", "--workers", "1")
    _, drawn, _ = call("synthetic", "--jobs", "20", *asked[1:3])

    assert (code, err) == (0, "")
    assert re.search(r"^easy +- ", table, re.MULTILINE)
    for shown in (table, drawn):
        assert re.search(r"^easy\+schedmate +synthetic ", shown, re.MULTILINE)
    assert re.findall(r"easy\+schedmate +synthetic ", swept) == ["easy+schedmate  synthetic "] * 3
    assert json.loads(found)["policies"]["easy+schedmate"]["code"] == "synthetic"
    with saved.open() as rows:
        assert [row["code"] for row in csv.DictReader(rows)] == ["", "synthetic"]
    assert "easy+schedmate (synthetic code)" in page.read_text()


def test_what_is_said_of_synthetic_code_needs_some(call, drawn_by_chance):
    code, _, err = call(str(drawn_by_chance), "--policy", "easy,easy+advisor", "--explained", "0.3")

    assert code == 2
    assert "say --workload" in err


def test_sjf_goes_by_predictions_and_says_so(call, tmp_path):
    path = tmp_path / "trace.csv"
    habits = "".join(f"{user}{day},{user},{day * 1000},{long},1\n" for day in range(9)
                     for user, long in (("ada", 300), ("bob", 20)))  # fmt: skip
    swapped = "x,ada,9000,1,1\ny,bob,9000,200,1\n"
    path.write_text("job_id,user,submit_time,duration,gpus\n" + habits + swapped)
    args = (str(path), "--policy", "fifo,sjf,sjf-oracle", "--gpus", "1")

    data = json.loads(call(*args, "--json")[1])["policies"]
    _, out, _ = call(*args)

    assert data["sjf-oracle"]["avg_jct_s"] < data["sjf"]["avg_jct_s"] < data["fifo"]["avg_jct_s"]
    assert "- sjf: by predictions, the rolling mean of the user's similar jobs " in out
    assert "(sjf-oracle knows the true run times)" in out


def test_several_traces_are_one_object_each(call, trace):
    _, out, _ = call(str(trace), "synthetic", "--jobs", "5", "--json")

    assert [json.loads(line)["jobs"] for line in out.splitlines()] == [3, 5]


def test_a_synthetic_trace_needs_no_file_and_repeats_by_its_seed(call):
    def averages(seed: str) -> list[float]:
        _, out, _ = call("synthetic", "--jobs", "200", "--seed", seed, "--json")
        return [policy["avg_jct_s"] for policy in json.loads(out)["policies"].values()]

    assert averages("1") == averages("1") != averages("2")


def test_backfill_takes_first_fit_in_the_place_of_fifo(call):
    args = ("synthetic", "--jobs", "500", "--load", "3", "--policy", "fifo", "--json")
    _, strict, _ = call(*args)
    _, first_fit, _ = call(*args, "--backfill")

    before = json.loads(strict)["policies"]["fifo"]["avg_jct_s"]
    assert json.loads(first_fit)["policies"]["first-fit"]["avg_jct_s"] < before


def test_all_is_every_policy_held_against_fifo():
    with command.make_context("simulate", ["synthetic", "--policy", "all"]) as ctx:
        asked = {name: ctx.params[name] for name in ctx.params if name not in OF_THE_ANSWER}
        [question] = _tasks(**asked)

    assert question.policies[0] == "fifo"
    assert sorted(question.policies) == sorted(POLICIES)


def test_a_synthetic_trace_keeps_its_cluster_at_any_load(call):
    data = json.loads(call("synthetic", "--jobs", "900", "--load", "1.5", "--json")[1])

    assert data["gpus"] == 64
    assert data["load"] == pytest.approx(1.5, rel=0.1)


def test_rows_left_out_are_talk_and_an_assumption(call, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE + "".join(f"bad{number},ada,0,x,1,x\n" for number in range(5)))

    code, out, err = call(str(path), "--json")

    assert code == 0
    assert err.startswith(f"{path}: left out 5 of 8 rows: line 5: duration is 'x', not a number")
    assert err.endswith("; …\n")
    assert "5 bad rows of the trace left out" in json.loads(out)["assumptions"]


@pytest.mark.processes
@pytest.mark.parametrize("bad", [0, 1])
def test_rows_without_a_gpu_are_counted_with_their_reason(call, tmp_path, bad):
    path = tmp_path / "trace.csv"
    rows = "".join(f"cpu{number},ada,0,10,0,x\n" for number in range(2))
    path.write_text(TRACE + rows + "bad,ada,0,x,1,x\n" * bad)

    _, _, err = call(str(path), "--sweep", "seed=0,1", "--policy", "fifo")

    assert f"{path}: left out {2 + bad} of {5 + bad} rows: " in err
    assert "rows that ask for no GPU: 2\n" in err


def test_the_cluster_can_be_sized_by_its_load(call, tmp_path):
    path = tmp_path / "steady.csv"
    rows = "".join(f"{number},ada,{10 * number},90,2\n" for number in range(101))
    path.write_text("job_id,user,submit_time,duration,gpus\n" + rows)

    def gpus(*args: str) -> int:
        return json.loads(call(str(path), "--policy", "fifo", "--json", *args)[1])["gpus"]

    assert (gpus(), gpus("--load", "1.82"), gpus("--load", "0.5")) == (21, 10, 37)
    assert gpus("--nodes", "3", "--gpus-per-node", "8") == 24


def test_groups_may_have_pools_of_their_own(call, trace):
    _, out, _ = call(str(trace), "--policy", "fifo", "--by-group", "--gpus", "3", "--json")

    data = json.loads(out)
    assert data["gpus"] == 3
    assert data["assumptions"][0] == "3 GPUs in 2 pools, one for each group of the trace"
    assert data["policies"]["fifo"]["avg_jct_s"] == pytest.approx((100 + 10 + 1) / 3)


def test_gpus_may_be_of_several_kinds(call, tmp_path):
    path = tmp_path / "two.csv"
    rows = "1,ada,0,100,2\n2,bob,0,100,2\n3,eve,0,100,8\n"
    path.write_text("job_id,user,submit_time,duration,gpus\n" + rows)
    args = (str(path), "--policy", "fifo", "--gpu-kinds", "a100:2:4,v100:4", "--json")

    data = json.loads(call(*args)[1])

    assert data["gpus"] == 6
    assert data["jobs"] == 2, "nobody has eight of one kind"
    assert data["policies"]["fifo"]["avg_jct_s"] == pytest.approx((25 + 100) / 2)
    assert "2 a100 (4x), 4 v100 (1x)" in data["assumptions"][0]
    assert len(set(data["assumptions"])) == len(data["assumptions"])
    with_nodes = json.loads(call(*args, "--gpus-per-node", "2", "--faults")[1])
    assert with_nodes["gpus"] == 6


def test_a_trace_is_drawn_for_the_gpus_of_all_kinds(call):
    args = ("synthetic", "--jobs", "300", "--policy", "fifo", "--json")
    kinds = json.loads(call(*args, "--gpu-kinds", "a100:64,v100:64")[1])
    alike = json.loads(call(*args, "--gpus", "128")[1])

    assert kinds["gpus"] == alike["gpus"] == 128
    assert kinds["load"] == pytest.approx(alike["load"], rel=0.1)


def test_a_job_may_be_scattered_over_nodes(call, tmp_path):
    path = tmp_path / "three.csv"
    rows = "1,ada,0,100,3\n2,bob,0,100,3\n3,eve,0,100,2\n"
    path.write_text("job_id,user,submit_time,duration,gpus\n" + rows)
    args = (str(path), "--policy", "fifo", "--gpus", "8", "--gpus-per-node", "4", "--json")

    together = json.loads(call(*args)[1])["policies"]["fifo"]["makespan_s"]
    scattered = json.loads(call(*args, "--spread")[1])["policies"]["fifo"]["makespan_s"]

    assert together == 200
    assert scattered == pytest.approx(100 / 0.9)


def test_nodes_may_fail(call):
    args = ("synthetic", "--jobs", "50", "--gpus-per-node", "8", "--faults", "--json")
    code, out, _ = call(*args, "--policy", "fifo")

    assert code == 0
    assert "on 8 nodes" in json.loads(out)["assumptions"][0]


def test_predictions_may_be_wrong(call):
    policies = ("--policy", "fifo,sjf,sjf-oracle")
    args = ("synthetic", "--jobs", "400", *policies, "--json", "--load", "1.2")
    exact = json.loads(call(*args, "--error", "0")[1])["policies"]
    wrong = json.loads(call(*args, "--error", "3")[1])["policies"]

    assert exact["sjf"]["avg_jct_s"] == exact["sjf-oracle"]["avg_jct_s"]
    assert wrong["sjf-oracle"]["avg_jct_s"] == exact["sjf-oracle"]["avg_jct_s"]
    assert exact["sjf"]["avg_jct_s"] < wrong["sjf"]["avg_jct_s"]
    assert exact["fifo"]["avg_jct_s"] == wrong["fifo"]["avg_jct_s"]


def test_a_report_says_how_to_make_it_again(call, trace, tmp_path):
    page = tmp_path / "out.html"

    code, _, err = call(
        *(str(trace), "--policy", "fifo,sjf-oracle", "--gpus", "1", "--no-overlay"),
        *("--report", str(page), "--json"),
    )

    html = page.read_text(encoding="utf-8")
    assert (code, err) == (0, "")
    typed = f"schedmate simulate {trace} --policy fifo,sjf-oracle --gpus 1 --no-workload"
    assert f"{typed} --report {page} --json</pre>" in html
    assert "2.61x" in html


@pytest.mark.processes
def test_a_sweep_is_one_object_a_setting_and_the_same_whoever_does_it(call):
    args = ("synthetic", "--jobs", "60", "--sweep", "load=0.8,1.2", "--sweep", "seed=0..1")
    _, alone, _ = call(*args, "--workers", "1", "--json")
    code, together, err = call(*args, "--workers", "2", "--json")

    assert (code, err) == (0, "")
    assert without_wall(alone) == without_wall(together)
    assert [json.loads(line)["setting"] for line in alone.splitlines()] == [
        {"load": load, "seed": seed} for load in (0.8, 1.2) for seed in (0, 1)
    ]


def test_a_sweep_is_a_table_a_file_and_part_of_the_report(call, tmp_path):
    table, page = tmp_path / "sweep.csv", tmp_path / "sweep.html"

    code, out, _ = call(
        *("synthetic", "--jobs", "60", "--sweep", "error=0,2", "--sweep", "seed=0..1"),
        *("--workers", "1", "--save", str(table), "--report", str(page)),
    )

    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert code == 0
    assert out.startswith("synthetic: average JCT vs fifo, over 4 settings\nerror  policy")
    assert [(row["error"], row["seed"], row["policy"]) for row in rows[:3]] == [
        *(("0.0", "0.0", "fifo"), ("0.0", "0.0", "sjf"), ("0.0", "1.0", "fifo")),
    ]
    assert len(rows) == 8
    assert "what error changes" in page.read_text(encoding="utf-8")


def test_a_sweep_over_seeds_alone_says_how_far_they_differ(call):
    _, out, _ = call("synthetic", "--jobs", "40", "--sweep", "seed=0..2", "--workers", "1")

    assert out.startswith("synthetic: average JCT vs fifo, over 3 settings\nseed  policy")


def test_rows_can_be_saved_as_json_lines(call, tmp_path):
    table = tmp_path / "all.jsonl"

    call("synthetic", "--jobs", "20", "--save", str(table))

    rows = [json.loads(line) for line in table.read_text().splitlines()]
    assert [row["policy"] for row in rows] == ["fifo", "sjf"]
    assert set(rows[0]) >= SUMMARY


@pytest.mark.processes
def test_a_setting_that_cannot_be_is_named(call, tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("job_id,user,submit_time,duration,gpus\na,ada,0,10,64\n")

    for workers in ("1", "2"):
        code, out, err = call(str(path), "--sweep", "gpus=64,8", "--workers", workers)

        assert (code, out) == (2, "")
        assert f"{path} (gpus=8): every job of" in err


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["nowhere.csv"], 3, "there is no file nowhere.csv"),
        (["synthetic", "--policy", "magic"], 2, "no policy is called 'magic'; there are: "),
        (["synthetic", "--policy", "fifo+magic"], 2, "SchedMate has no part 'magic'"),
        (["synthetic", "--policy", "easy+advisor+schedmate"], 2, "leave advisor out"),
        (["synthetic", "--policy", ","], 2, "--policy needs a name"),
        (["synthetic", "--gpus", "0"], 2, "--gpus"),
        (["synthetic", "--jobs", "-1"], 2, "--jobs"),
        (["synthetic", "--like", "mars"], 2, "no profile 'mars'"),
        (["synthetic", "--nodes", "2"], 2, "--nodes needs --gpus-per-node"),
        (["synthetic", "--nodes", "2", "--gpus-per-node", "8", "--gpus", "9"], 2, "have 16, not 9"),
        (["synthetic", "--faults"], 2, "say --gpus-per-node"),
        (["synthetic", "--spread"], 2, "say --gpus-per-node"),
        (["synthetic", "--gpu-kinds", "a100"], 2, "say name:GPUs:speed"),
        (["synthetic", "--gpu-kinds", "a100:4:nan"], 2, "say name:GPUs:speed"),
        (["synthetic", "--gpu-kinds", "a100:4,a100:5"], 2, "names a kind of GPU twice"),
        (["synthetic", "--gpu-kinds", "a100:4", "--gpus", "4"], 2, "leave --gpus"),
        (["t.csv", "--load", "1", "--gpus", "4"], 2, "say either --load or the GPUs"),
        (["t.csv", "--sweep", "load=1", "--gpus", "4"], 2, "leave the GPUs out"),
        (["t.csv", "--sweep", "load=1", "--sweep", "gpus=4"], 2, "leave the GPUs out"),
        (["t.csv", "--sweep", "jobs=1,2"], 2, "t.csv has the jobs it has"),
        (["synthetic", "--sweep", "edits=0.5", "--jobs", "5"], 2, "say --workload"),
        (["synthetic", "--policy", "sjf-oracle+advisor"], 2, "say sjf+advisor"),
        (["synthetic", "--policy", "oracle"], 2, "sjf-oracle, "),
        (["synthetic", "--sweep", "load"], 2, "such as load=0.7,0.9,1.1"),
        (["synthetic", "--sweep", "colour=1"], 2, "nothing to sweep is called 'colour'"),
        (["synthetic", "--sweep", "seed=a..b"], 2, "neither a number nor a range"),
        (["synthetic", "--sweep", "seed=4..0"], 2, "ends before it begins"),
        (["synthetic", "--sweep", "seed=0.5"], 2, "no whole number"),
        (["synthetic", "--sweep", "load=99"], 2, "not within 0.01 and 10"),
        (["synthetic", "--sweep", "load=nan"], 2, "not within"),
        (["synthetic", "--sweep", "seed=0..99999"], 2, "more than 10000 values"),
        (["synthetic", "--report", "no/such/out.html"], 2, "make it first"),
        (["synthetic", "--save", "out.txt"], 2, "neither .csv nor .jsonl"),
        ([], 2, "TRACE"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr(call, args, code, sentence):
    ended, out, err = call(*args)

    assert (ended, out) == (code, "")
    assert sentence in err
    assert "Traceback" not in err


def test_a_sweep_on_ray_without_ray_says_what_to_install(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    code, _, err = call("synthetic", "--sweep", "seed=0..1", "--ray", "ray://nowhere:10001")

    assert code == 2
    assert "pip install ray" in err


def test_a_policy_is_checked_before_a_large_trace_is_read(call):
    code, _, err = call("nowhere.csv", "--policy", "magic")

    assert (code, "magic" in err) == (2, True)


def test_a_trace_without_a_usable_row_is_a_usage_error(call, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("job_id,user,submit_time,duration,gpus\n")

    assert call(str(path))[0] == 2


@pytest.mark.processes
def test_a_small_question_loads_nothing_heavy(tmp_path):
    page = tmp_path / "out.html"
    code = (
        "import sys\nfrom schedmate.cli import main\n"
        f"try: main(['simulate', 'synthetic', '--jobs', '50', '--report', {str(page)!r}])\n"
        "except SystemExit as ended: assert ended.code == 0\n"
        "heavy = ('pydantic', 'rich', 'numba', 'lightgbm', 'scipy', 'pyarrow')\n"
        "sys.exit(str([name for name in heavy if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == "[]\n"


@pytest.mark.processes
def test_bars_are_for_a_terminal_and_data_stays_clean():
    master, terminal = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "schedmate", "simulate", "synthetic", "--jobs", "300", "--json"],
        env=os.environ | {"PYTHONPATH": str(SOURCE), "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=terminal,
        check=True,
    )
    os.close(terminal)
    seen = os.read(master, 65536)
    os.close(master)

    assert b"fifo" in seen
    assert json.loads(done.stdout)["jobs"] == 300


def test_lowered_limits_are_an_assumption(call):
    args = ("synthetic", "--jobs", "30", "--no-workload", "--json")
    for policy, stated in (("easy+schedmate", False), ("easy+schedmate+limits", True)):
        _, out, _ = call(*args, "--policy", policy)
        assumed = [
            line for line in json.loads(out)["assumptions"] if line.startswith("with +limits")
        ]
        assert bool(assumed) is stated
        assert all("beside easy: the limits of waiting jobs" in line for line in assumed)


@pytest.mark.parametrize("policy", ["slurm", "multifactor"])
def test_a_policy_goes_by_the_configuration_of_a_site(call, tmp_path, policy):
    """A long job of 1 GPU and a short one of 2 wait: sizes decide which of them goes first."""
    trace, config = tmp_path / "trace.csv", tmp_path / "slurm.txt"
    rows = ["a,ada,0,1000,2", "b,bob,1,5000,1", "c,eve,2,10,2"]
    trace.write_text("\n".join(["job_id,user,submit_time,duration,gpus", *rows]))
    by_size = "PriorityWeightJobSize = 100000\nSchedulerParameters = bf_interval=60\n"
    waits = {}
    for favour in ("Yes", "No"):
        config.write_text(
            f"PriorityType = priority/multifactor\nPriorityFavorSmall = {favour}\n{by_size}"
        )
        code, out, err = call(
            *(str(trace), "--policy", policy, "--gpus", "2", "--json"),
            *("--slurm-config", str(config)),
        )
        assert (code, err) == (0, "")
        data = json.loads(out)
        waits[favour] = data["policies"][policy]["avg_jct_s"]
        [line] = [each for each in data["assumptions"] if each.startswith(f"{policy}, parameters")]
        assert "JobSize=100000" in line
        assert ("bf_interval=60" in line) is (policy == "slurm")
    assert waits["Yes"] - waits["No"] == pytest.approx(5000 / 3, rel=0.1)
    _, out, _ = call(str(trace), "--policy", policy, "--gpus", "2")
    assert f"{policy}, parameters by default" in out


@pytest.mark.parametrize("policy", ["slurm", "multifactor"])
def test_schedmate_orders_jobs_at_a_site_with_priority_basic(call, tmp_path, policy):
    """A short job waits behind long ones, and nothing but its nice number can bring it forward."""
    trace, config = tmp_path / "trace.csv", tmp_path / "slurm.txt"
    rows = ["a,ada,0,1000,2", *(f"{n},bob,{n},5000,2" for n in range(1, 8)), "s,eve,9,10,2"]
    trace.write_text("\n".join(["job_id,user,submit_time,duration,gpus", *rows]))
    config.write_text("PriorityType = priority/basic\nPriorityWeightAge = 1000\n")

    code, out, _ = call(
        *(str(trace), "--policy", f"{policy},{policy}+advisor", "--gpus", "2", "--json"),
        *("--error", "0", "--no-workload", "--slurm-config", str(config)),
    )

    assert code == 0
    data = json.loads(out)
    alone, aided = (data["policies"][name] for name in (policy, f"{policy}+advisor"))
    assert aided["avg_jct_s"] < 0.9 * alone["avg_jct_s"]
    assert any("PriorityType=priority/basic" in line for line in data["assumptions"])


@pytest.mark.parametrize(
    ("policy", "config", "code", "words"),
    [
        ("slurm", "SchedulerParameters = bf_max_job_test=-5", 2, "bf_max_job_test=-5"),
        ("slurm", "job_id,user", 2, "scontrol show config"),
        ("slurm", None, 3, "there is no file"),
        ("easy", "PriorityType = priority/multifactor", 2, "add one of them"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(  # noqa: PLR0917 - a table
    call, trace, policy, config, code, words
):
    path = trace.with_name("slurm.txt")
    if config is not None:
        path.write_text(config)

    ended, _, err = call(str(trace), "--policy", policy, "--slurm-config", str(path))

    assert ended == code
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_sweep_over_seeds_has_a_mean_with_an_interval_and_shows_controls(call):
    asked = ("synthetic", "--jobs", "40", "--policy", "easy,easy+advisor", "--workers", "1")

    code, out, _ = call(*asked, "--controls", "--sweep", "seed=0..2")

    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert "over 3 seeds, with a 95 % interval:" in out
    means = [line for line in lines if line[:1] == ["easy+advisor"]]
    assert sorted({line[2] for line in means if line[1] == "by"}) == sorted(CONTROLS)
    [(_, _, mean, low, high)] = [line for line in means if line[1] != "by"]
    assert float(low[:-1]) <= float(mean[:-1]) <= float(high[:-1])


def test_one_job_on_one_gpu_is_singular(call, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("job_id,user,submit_time,duration,gpus\na,ada,0,100,1\n")

    _, out, _ = call(str(path), "--policy", "fifo", "--gpus", "1")

    assert "one.csv: 1 job on 1 GPU" in out
    assert "one pool of 1 GPU of one kind" in out


@pytest.mark.processes
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_narrow_terminal_shows_slowdown_and_p99_before_the_rest(trace, tmp_path, columns):
    out = in_a_terminal(
        columns, "simulate", str(trace), "--policy", "fifo,easy", "--gpus", "4", state=tmp_path
    )

    [heading] = [line for line in out if line.startswith("policy")]
    rows = [line for line in out if line.startswith(("fifo ", "easy "))]
    assert {"avg JCT", "slowdown", "p99 JCT", "avg wait"} <= set(re.split(r"\s{2,}", heading))
    assert ("worst user" in heading) is (columns == 200)
    assert len(rows) == 2
    assert max(map(len, [heading, *rows])) <= columns


def in_a_terminal(columns, *args, state):
    """The lines that a verb prints on a terminal of that width."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-m", "schedmate", *args],
        stdin=its,
        stdout=its,
        stderr=subprocess.DEVNULL,
        env={**kept, "SCHEDMATE_STATE_DIR": str(state)},
    ):
        os.close(its)
        found = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is reported
            while part := os.read(ours, 4096):
                found += part
    os.close(ours)
    return found.decode().splitlines()


def test_levers_need_a_daemon_beside_the_scheduler(call):
    for policies in ("easy,sjf", "sjf+advisor", "easy+handler"):
        code, _, err = call("synthetic", "--policy", policies, "--resumable", "0.5")

        assert code == 2
        assert "--resumable: only SchedMate beside a scheduler" in err


@pytest.mark.processes
def test_levers_are_said_and_can_be_swept(call):
    asked = ("synthetic", "--jobs", "60", "--load", "1.3", "--policy", "easy,easy+schedmate")
    code, out, _ = call(*asked, "--resumable", "0.6", "--doomed", "0.2", "--json")

    assert code == 0
    found = json.loads(out)
    assert any("60% of the jobs, by code, resume" in line for line in found["assumptions"])
    assert any("20% of the jobs show in time" in line for line in found["assumptions"])
    code, out, _ = call(*asked, "--sweep", "shareable=0,0.4", "--json")
    assert code == 0
    settings = [json.loads(line)["setting"] for line in out.splitlines()]
    assert settings == [{"shareable": 0.0}, {"shareable": 0.4}]
