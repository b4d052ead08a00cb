"""Every command on drawn scenarios: an answer or a refusal, in time, and one winner for each objective.

At full size: ``pytest -m slow -n auto -rP tests/planner/report/test_drawn_scenarios.py``; it prints counts and times of
each block. ``DRAWN_LOG`` names a file, one for each commit, that keeps what was seen scenario by scenario, and
from which a second run goes on; ``python tests/planner/report/test_drawn_scenarios.py FILE`` says what it has.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.cli import app as cli
from planner.cli import options
from planner.io.answers import Answer, Verdict
from planner.io.wording import title
from planner.scenario import sections

SCENARIOS, BLOCK, QUICK = 500, 25, range(4, 5)
LONGEST = 5.0  # seconds of the processor that a command may take which does not simulate
SIMULATES = {"--straggler"}
NAME = r"(?:Star|Ring)(?:-(?:Star|Ring))+"
NAMES = re.compile(NAME)
SAID = (  # sentences that name the best by an objective
    re.compile(rf"Use (?P<names>{NAME}) for (?P<by>[a-z, ]+)[:.]"),
    re.compile(rf"Toss-up for (?P<by>[a-z, ]+): (?P<names>(?:{NAME}(?:, | or )?)+)"),
    re.compile(rf"(?P<names>{NAME}) is best by (?P<by>[a-z]+)"),
)


def drawn(rng: np.random.Generator) -> list[str]:
    """Options of a random scenario."""
    words = ["-G", str(rng.integers(1, 30)), "-M", str(rng.integers(1, 40))]
    words += ["--heterogeneity", str(rng.choice(["iid", "intra", "inter", "both", "zeta=0.3,delta=2"]))]
    optional = (
        ("--uplink", lambda: f"{10 ** rng.uniform(-1, 3):.3g}Mbit/s"),
        ("--link-sharing", lambda: rng.choice(["per-client", "per-server"])),
        ("--local-steps", lambda: rng.integers(1, 30)),
        ("--group-rounds", lambda: rng.integers(1, 5)),
        ("--model-size", lambda: f"{10 ** rng.uniform(-1, 3):.3g}MB"),
        ("--step-time", lambda: f"{10 ** rng.uniform(-3, 1):.3g}s"),
        ("--sigma", lambda: f"{10 ** rng.uniform(-1, 1):.3g}"),
        ("--rounds", lambda: rng.integers(1, 2000)),
        ("--objective", lambda: rng.choice(["time", "traffic", "rounds"])),
        ("--metric", lambda: rng.choice(["loss", "accuracy", "gradient"])),
    )
    for option, value in optional:
        if rng.random() < 0.4:
            words += [option, str(value())]
    return words


def counts(rng: np.random.Generator, path: Path) -> Path:
    """Write label counts of random groups: Dirichlet between groups and inside them."""
    labels, rows = int(rng.integers(2, 7)), ["client,group," + ",".join("abcdefg"[: int(rng.integers(2, 7))])]
    labels = rows[0].count(",") - 1
    for g in range(rng.integers(2, 5)):
        mean = rng.dirichlet(np.full(labels, 10 ** rng.uniform(-1, 1)))
        for c in range(rng.integers(2, 7)):
            share = rng.dirichlet(mean * 10 ** rng.uniform(0, 2) + 1e-3)
            rows.append(",".join(map(str, (f"c{g}-{c}", f"g{g}", *(1 + rng.multinomial(500, share))))))
    path.write_text("\n".join(rows) + "\n")
    return path


def commands(rng: np.random.Generator, folder: Path) -> list[list[str]]:
    """Every command that neither trains, asks nor serves, on a random scenario."""
    words, labels = drawn(rng), counts(rng, folder / "counts.csv").name
    plain = [w for pair in zip(words[4::2], words[5::2], strict=True) for w in pair if pair[0] != "--heterogeneity"]
    family = [w for pair in zip(words[4::2], words[5::2], strict=True) for w in pair if pair[0] in FAMILY]
    first, second, nodes = "first.toml", "second.toml", int(rng.integers(4, 60))
    init = [w for pair in zip(words[::2], words[1::2], strict=True) for w in pair if pair[0] in INIT]
    more = [w for pair in zip(words[4::2], words[5::2], strict=True) for w in pair if pair[0] not in INIT]
    other = ["-G", str(rng.integers(2, 12)), "-M", str(rng.integers(2, 12))]
    ring = f"ring:{rng.integers(2, 6)},{rng.integers(2, 12)},{rng.integers(1, 6)}"
    bound = str(rng.choice(["star-star", "star-ring", "ring-star", "ring-ring"]))
    return [
        ["recommend", *words],
        ["recommend", *words, "--availability", f"{rng.integers(90, 100)}%"],
        ["recommend", *words[4:], "--tiers", "/".join(str(n) for n in rng.integers(2, 8, 3))],
        ["recommend", *plain, "--data", labels],
        ["flip", *words],
        ["tune", *[w for pair in zip(words[::2], words[1::2], strict=True) for w in pair if pair[1] != "rounds"]],
        ["async", *words, "--speed-ratio", f"{10 ** rng.uniform(0, 1.5):.3g}"],
        ["overlap", ring, *family],
        ["hubs", "--nodes", str(nodes), "--edges", str(nodes * rng.integers(2, 9)), *family],
        ["measure", labels],
        ["group", labels, *plain],
        ["network", str(rng.choice(["place", "order", "links", "overlays"])), str(rng.choice(["gaia", "aws-na"]))],
        ["init", "--yes", *init, "--output", first],
        ["init", "--yes", *other, "--output", second],
        ["compare", first, second],
        ["recommend", "--config", first, *more, "--save", "run.json"],
        ["rerun", "run.json", "--check"],
        ["export", *words, "--output", "job"],
        ["bounds", "show", f"zhou2026.thm1.{bound}", *shlex.split(f"--set G={words[1]} --set M={words[3]} {NUMBERS}")],
        ["audit", "--paper", "devos2023"],
        ["schema", "recommend"],
        ["explain", "E012"],
    ]


NUMBERS = "--set P=1 --set K=5 --set delta=0.5 --set zeta=0.2 --set R=1000 --set L=1 --set A=2.3 --set sigma=1"
FAMILY = {"--uplink", "--model-size", "--step-time", "--sigma", "--rounds"}
INIT = {"-G", "-M", "--heterogeneity", "--uplink", "--link-sharing", "--model-size", "--objective"}


@dataclass
class Seen:
    """What was found over all scenarios."""

    wrong: list[str] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    codes: Counter[tuple[str, int]] = field(default_factory=Counter)
    said: int = 0

    def line(self, seed: int) -> str:
        """Return what was seen of one scenario as a line of JSON."""
        codes = [[*of, times] for of, times in self.codes.items()]
        kept = {"seed": seed, "wrong": self.wrong, "seconds": self.seconds, "codes": codes, "said": self.said}
        return json.dumps(kept) + "\n"

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Seen:
        """Read what `line` wrote."""
        codes = Counter({(name, code): times for name, code, times in kept["codes"]})
        return cls(kept["wrong"], defaultdict(list, kept["seconds"]), codes, kept["said"])

    def add(self, other: Seen) -> None:
        """Take in what another saw."""
        self.wrong += other.wrong
        for name, each in other.seconds.items():
            self.seconds[name] += each
        self.codes += other.codes
        self.said += other.said

    def table(self) -> str:
        """Say runs, refusals and seconds by command."""
        lines = [f"{'command':<12} {'runs':>6} {'answers':>8} {'median':>8} {'most':>8}"]
        for name, each in self.seconds.items():
            right = self.codes[name, 0]
            lines.append(f"{name:<12} {len(each):>6} {right:>8} {np.median(each):>7.2f}s {max(each):>7.2f}s")
        return "\n".join([*lines, f"sentences that name a winner: {self.said}", f"wrong: {len(self.wrong)}"])


def cases(verdict: Verdict, objective: str) -> Iterator[tuple[str, Verdict]]:
    """Every verdict that names a best, with its objective and the value of link sharing, if any."""
    if verdict.status != "depends":
        yield objective, verdict
    for case in verdict.cases:
        by = case.value if verdict.on == "objective" else objective
        yield from ((f"{by} {one.value}", one) for one in case.cases) if case.cases else ((by, case),)


def algorithm(name: str, words: list[str]) -> tuple[str, ...]:
    """What a topology of two tiers runs: where there is one group, or one client, its pattern makes no difference."""
    sizes = (words[words.index(option) + 1] if option in words else "" for option in ("-G", "-M"))
    return tuple("" if size == "1" else part for size, part in zip(sizes, name.split("-"), strict=False))


def disagreements(answer: Answer, page: str, whole: str, words: list[str]) -> Iterator[str]:
    """Where verdict, table and text of one answer name different winners for one objective."""
    flat, told = " ".join(page.split()), answer.to_json()["verdict"]
    if told["text"] not in flat:
        yield f"the page lacks the verdict of the JSON: {told['text']}"
    for by, case in cases(answer.verdict, answer.objective):
        trees = [id_.partition(",")[0] for id_ in case.best]  # `tune` has K and P behind a comma
        listed = [title(id_) for id_ in trees if re.fullmatch(NAME, id_, re.IGNORECASE)]
        run = {algorithm(name, words) for name in listed if name in flat}  # of one algorithm's a page names one
        missing = [name for name in listed if algorithm(name, words) not in run]
        if listed and f"{listed[0]} or {len(listed) - 1} other" in flat:  # where there is no room for more rows
            continue
        if missing and len(listed) <= 4 and (case.status != "best" or not run):
            yield f"{by}: the page does not name {missing}"
        if case.runner_up in case.best and case.best:
            yield f"{by}: the runner-up {case.runner_up} is among the best"
    known = {row["id"] for row in answer.to_json()["rows"] if "id" in row}
    if answer.schema in ("hfl-plan/recommend/2", "hfl-plan/tune/2") and not set(answer.verdict.best) <= known:
        yield f"the best {answer.verdict.best} are no rows"
    if answer.schema == "hfl-plan/recommend/2":
        marked = {row.id for row in answer.rows if getattr(row, "tie", None) == 1 and not row.baseline}
        if answer.verdict.status != "depends" and marked != set(answer.verdict.best):
            yield f"rows that tie for best are {marked}, the verdict has {answer.verdict.best}"
    by_objective = (
        winners(" ".join(whole.split())) if "/compare/" not in answer.schema else {}
    )  # that has two scenarios
    for objective, named in by_objective.items():
        if len(named) > 1:
            yield f"sentences name different winners by {objective}: {sorted(map(sorted, named))}"


def winners(text: str) -> dict[str, set[frozenset[str]]]:
    """By objective, the winners that each sentence names."""
    found: dict[str, set[frozenset[str]]] = defaultdict(set)
    for pattern in SAID:
        for match in pattern.finditer(text):
            for objective in re.split(", | and ", match["by"]):
                found[objective].add(frozenset(NAMES.findall(match["names"])))
    return found


def best_of(answer: Answer, objective: str) -> frozenset[str] | None:
    """The best by an objective, over all values of an unknown; None where the answer does not say."""
    found: list[str] = []
    for by, case in cases(answer.verdict, answer.objective):
        if by.split()[0] == objective or answer.verdict.on not in ("", "objective"):
            found += case.best
    return frozenset(found) or None


def check(plan: Any, seeds: range, folder: Path) -> Seen:
    """Run all commands on the scenarios of these seeds that no log has; what is wrong is collected, not raised."""
    all_, log = Seen(), Path(os.environ.get("DRAWN_LOG", os.devnull))
    before = kept(log)
    for seed in seeds:
        if seed not in before:
            place = folder / str(seed)
            place.mkdir()
            os.chdir(place)
            before[seed] = one(plan, seed, place)
            with log.open("a") as out:
                out.write(before[seed].line(seed))
        all_.add(before[seed])
    return all_


def kept(log: Path) -> dict[int, Seen]:
    """By seed, what a log has."""
    lines = log.read_text().splitlines() if log.is_file() else []
    return {found["seed"]: Seen.of(found) for found in map(json.loads, lines)}


def one(plan: Any, seed: int, place: Path) -> Seen:
    """Run all commands on one scenario."""
    seen, answers = Seen(), dict[str, Answer]()
    for words in commands(np.random.default_rng(seed), place):
        name, shown = words[0], f"seed {seed}: hfl-plan {shlex.join(words)}"
        start = time.process_time()
        code, out, err, found = plan(*words)
        seconds = time.process_time() - start
        seen.seconds[name].append(seconds)
        seen.codes[name, code] += 1
        wrong = [what for what in ("N009", "Warning:", "Traceback", "internal error") if what in err]
        if (code == 0) != bool(out) or code not in (0, 1, 2):
            wrong.append(f"exit code {code} with {len(out)} letters on stdout")
        if seconds > LONGEST and not SIMULATES & set(words):
            wrong.append(f"took {seconds:.1f} s")
        wrong += [f"{len(line)} columns: {line}" for line in out.splitlines() if too_wide(line, name)]
        if code == 0 and name not in ("schema", "explain") and len(out.splitlines()) > 25:
            wrong.append(f"{len(out.splitlines())} lines")
        if found is not None and code == 0 and isinstance(found, Answer):
            whole = f"{out}\n{found.explain()}" if hasattr(found, "explain") else out
            seen.said += sum(map(len, winners(" ".join(whole.split())).values()))
            wrong += disagreements(found, out, whole, words)
            answers.setdefault(name, found)
        seen.wrong += [f"{shown}\n    {what}{f' {err.strip()}' if code else ''}" for what in wrong]
    seen.wrong += [f"seed {seed}: {what}" for what in between(answers)]
    return seen


def between(answers: dict[str, Answer]) -> Iterator[str]:
    """Where `flip` starts from another best than `recommend` names."""
    if {"recommend", "flip"} <= answers.keys():
        flip, recommend = answers["flip"], answers["recommend"]
        first, best = set(flip.flip.first), best_of(recommend, flip.objective)
        if best is not None and not first <= best:
            yield f"flip starts from {sorted(first)} by {flip.objective}, recommend has {sorted(best)}"


def too_wide(line: str, command: str) -> bool:
    """Whether a line is over 80 columns that a page may not have; JSON may."""
    return len(line) > 80 and command not in ("schema",)


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    kept: list[Any] = []
    emit = options.emit
    monkeypatch.setattr(options, "emit", lambda result, *rest: (kept.append(result.answer), emit(result, *rest))[1])

    def call(*words: str) -> tuple[int, str, str, Any]:
        kept.clear()
        monkeypatch.setattr(sys, "argv", ["hfl-plan", *words])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as stop:
            warnings.simplefilter("error")
            cli.main()
        return int(stop.value.code or 0), *capsys.readouterr(), kept[0] if kept else None

    return call


# With draws and all searches, also for what changes an answer, they are slow checks.
@pytest.mark.usefixtures("searched_once", "unflipped", "settings_alone", "unturned", "few_steps")
def test_drawn_scenarios_have_answers_or_refusals(plan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAWN_LOG", str(tmp_path / "log"))
    whole = sections.Scenario
    monkeypatch.setattr(sections, "Scenario", lambda **parts: whole(**{**parts, "draws": 0}))
    seen = check(plan, QUICK, tmp_path)
    assert seen.wrong == []
    assert check(None, QUICK, tmp_path) == seen  # from the log, nothing is run again


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SCENARIOS, BLOCK))
def test_500_drawn_scenarios_have_answers_or_refusals(first: int, plan: Any, tmp_path: Path) -> None:
    seen = check(plan, range(first, first + BLOCK), tmp_path)
    print(seen.table())
    assert seen.wrong == []


if __name__ == "__main__":
    seeds, whole = kept(Path(sys.argv[1])), Seen()
    for each in seeds.values():
        whole.add(each)
    print(f"{len(seeds)} scenarios, seeds {min(seeds)} to {max(seeds)}", whole.table(), *whole.wrong, sep="\n")
