"""How many public jobs resume by themselves, and whether the advisor knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.command import progress
from bench.corpora.advice_cases import BLIND, HELD_OUT, Label, LabelledJob, read_cases
from bench.corpora.shares import (
    BlindJob,
    SampledJob,
    blind_jobs,
    read_rows,
    sample_counts,
    sampled_jobs,
)
from bench.datasets import data_dir, members
from bench.proof.proportions import Proportion, weighted_share
from schedmate.advisor import Advisor
from schedmate.testing.history import MemoryHistory

WORDS = {
    "yes": "by itself",
    "weights": "weights only, epochs begin again",
    "parts": "finished parts kept, the current one begins again",
    "flag": "only with a changed argument or setting",
    "no": "never",
}
_ROUNDS = {
    1: "labelled before it was written, since used to mend it",
    2: "labelled before it read them, since used to mend it",
}
_LOADED = b"successfully loaded checkpoint"
_NOTHING_THERE = b"will not load any checkpoints"


def labelled_trainings() -> list[SampledJob]:
    return [job for job in sampled_jobs() if job.resumes in WORDS]


def print_resuming() -> dict[str, Any]:
    jobs, counts = labelled_trainings(), sample_counts()
    everything = sampled_jobs()
    unclear = sum(job.resumes == "unclear" for job in everything)
    print(
        f"{counts['candidates']} repositories drawn: {counts['no_snapshot']} without a copy, "
        f"{counts['script_gone']} without the script, {counts['no_gpu']} without a GPU; of the "
        f"other {len(everything)} jobs {len(everything) - len(jobs) - unclear} train nothing and "
        f"{unclear} start a program that is not there"
    )
    print(f"\nresumes after a requeue | of {len(jobs)} trainings (95 %)")
    labels = Counter(job.resumes for job in jobs)
    found = {word: Proportion(labels[word], len(jobs)) for word in WORDS}
    for word, proportion in found.items():
        print(f"{WORDS[word]} | {proportion}")
    saved = Counter(job.saves for job in jobs)
    whole_state = sum(job.saves == "regular" and job.state == "full" for job in jobs)
    full = Proportion(whole_state, len(jobs))
    print(f"saves | {', '.join(f'{word} {number}' for word, number in saved.most_common())}")
    print(f"saves optimiser and counters at regular times | {full}")
    known = [job for job in jobs if job.gpus is not None and job.hours is not None]
    share, (low, high) = weighted_share(
        [job.resumes == "yes" for job in known],
        [(job.gpus or 0) * (job.hours or 0.0) for job in known],
    )
    print(
        f"by itself, by requested GPU hours | {share:.1%} ({low:.1%} to {high:.1%}) of {len(known)}"
    )
    _print_chaining(counts)
    earlier = _print_earlier_labels()
    _print_agreement()
    return {
        "trainings": len(jobs),
        **{word: proportion.as_json() for word, proportion in found.items()},
        "saves_full_state": full.as_json(),
        "by_gpu_hours": {"share": share, "low": low, "high": high},
        "earlier_labels": earlier,
    }


def _print_chaining(counts: dict[str, int]) -> None:
    whole = counts["repositories_with_batch_scripts"]
    print(f"\nof {whole} repositories ({counts['batch_scripts']} batch scripts), those that say")
    for word in ("requeue", "signal", "dependencies"):
        print(f"  {word} | {Proportion(counts[f'repositories_with_{word}'], whole)}")
    logs = data_dir() / "logs" / "bigscience_megatron_logs.tar.gz"
    if logs.is_file():
        texts = [text for _, text in members(logs)]
        looked = Proportion(sum(_NOTHING_THERE in text for text in texts), len(texts))
        loaded = Proportion(sum(_LOADED in text for text in texts), len(texts))
        print(f"  Slurm logs of BigScience's experiments that began from a checkpoint | {loaded}")
        print(f"  those that looked for one where none was yet | {looked}")


def _print_earlier_labels() -> dict[str, Any]:
    """Of jobs that others had labelled for the advisor; a label without the field says nothing."""
    expected = [case.label.expected.get("resumes") for case in read_cases(BLIND, HELD_OUT)]
    stated = [each.value for each in expected if each is not None]
    among_stated = Proportion(sum(stated), len(stated))
    among_all = Proportion(sum(stated), len(expected))
    print(f"\njobs labelled earlier by others, where the code states it | {among_stated}")
    print(f"the same, where silence counts as no | {among_all}")
    return {"stated": among_stated.as_json(), "all": among_all.as_json()}


def _print_agreement() -> None:
    """The second pass is by the reader of the first, on the same day: it finds slips, and is no
    independent agreement. Labels of others were read before theirs were looked at."""
    first = {(job.repository, job.script): job.resumes for job in sampled_jobs()}
    again = [
        (first[row["repository"], row["script"]], row["resumes"])
        for row in read_rows("second_pass.jsonl")
    ]
    same = sum(one == other for one, other in again)
    by_itself = sum((one == "yes") == (other == "yes") for one, other in again)
    print(
        f"\nread again by the same reader, who remembered the first labels: same label "
        f"{Proportion(same, len(again))}, to 'by itself' {Proportion(by_itself, len(again))}"
    )
    cases = {case.name: case.label.expected.get("resumes") for case in read_cases(BLIND, HELD_OUT)}
    pairs = [
        (bool(theirs.value), row["resumes"] == "yes")
        for row in read_rows("others.jsonl")
        if (theirs := cases[row["case"]]) is not None
    ]
    print(
        "jobs labelled by others, read before their labels were seen: same answer to 'by itself' "
        f"{Proportion(sum(one == other for one, other in pairs), len(pairs))}"
    )


def print_reader(clones: Path) -> dict[str, Any]:
    """What the advisor says of labelled jobs, from their code alone."""
    known = [(_label(job), job.resumes, job.note) for job in labelled_trainings()]
    sets = {"known when it was written": known}
    for number, title in _ROUNDS.items():
        jobs = (job for job in blind_jobs() if job.round == number)
        sets[title] = [(_blind_label(job), job.resumes, job.note) for job in jobs]
    return {title: _print_reader(title, jobs, clones) for title, jobs in sets.items()}


def _label(job: SampledJob) -> Label:
    return Label(made_by="shares", script=job.script, repository=job.repository, commit=job.commit)


def _blind_label(job: BlindJob) -> Label:
    return Label(
        made_by="shares",
        script=job.script or None,
        command=job.command,
        args=job.args,
        directory=job.directory,
        repository=job.repository,
        commit=job.commit,
    )


def _print_reader(
    title: str, jobs: Sequence[tuple[Label, str, str]], clones: Path
) -> dict[str, Any]:
    answers = []
    for label, resumes, note in progress(jobs, "jobs"):
        repository = label.repository or ""
        with LabelledJob(repository, label, Path()).unpacked(clones) as files:
            if files is None:
                continue
            memory = MemoryHistory()
            workload = Advisor(memory, memory).advise(label.target(files)).advice.workload
            said = None if workload.resumes is None else bool(workload.resumes.value)
            answers.append((repository, resumes, note, said))
    right = sum(said is True and resumes == "yes" for _, resumes, _, said in answers)
    precision = Proportion(right, sum(said is True for *_, said in answers))
    recall = Proportion(right, sum(resumes == "yes" for _, resumes, _, _ in answers))
    print(f"\n`resumes` of the workload record on {len(answers)} jobs, {title}")
    for said in (True, False, None):
        labels = Counter(resumes for _, resumes, _, answer in answers if answer is said)
        listed = ", ".join(f"{word} {number}" for word, number in labels.most_common())
        print(f"  says {said} | {sum(labels.values())}: {listed}")
    print(f"  precision | {precision}\n  recall | {recall}")
    for repository, resumes, note, answer in answers:
        if (answer is True) != (resumes == "yes"):
            print(f"  wrong: {repository} says {answer}, is {resumes}: {note}")
    return {"precision": precision.as_json(), "recall": recall.as_json()}
