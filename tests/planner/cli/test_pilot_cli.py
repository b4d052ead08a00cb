"""``hfl-plan pilot``: what it writes and says, resumed, and given what cannot be raced."""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import runpy
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from of_schema import validate

pytest.importorskip("torch")
pytest.importorskip("scipy")

import planner
from planner.cli import app as cli
from planner.data.pilot import Pilot, read_pilot
from planner.data.race_curves import crossing, kept, rounds_like, value_at
from planner.io.json_documents import fitted, schema_of

HOOK = """
import torch
from torch import nn

def model():
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))

def samples(many, seed):
    made = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (many,), generator=made)
    return torch.randn(many, 4, generator=made) + y[:, None], y

def clients():
    return [(f"g{c // 3}", *samples(20 + c, c)) for c in range(9)]

def test():
    return samples(200, 99)
"""
ALONE = {**os.environ, "OMP_NUM_THREADS": "1"}
QUICK = ("--rounds", "4", "--rates", "4", "--seeds", "2", "--batch", "4")
SHORT = ("--rounds", "2", "--rates", "2", "--seeds", "1", "--batch", "4")  # where nothing is learnt


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(hook: Path, *options: str) -> Done:
    """The command in this process, in the folder of the hook."""
    with contextlib.chdir(hook.parent):
        return call(str(hook), *options)


def call(*options: str, command: str = "pilot") -> Done:
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(SystemExit) as stop,
    ):
        patch.setattr(sys, "argv", ["hfl-plan", command, *options])
        cli.main()
    return Done(int(stop.value.code or 0), out.getvalue(), err.getvalue())


def hook(folder: Path, text: str = HOOK, **swap: str) -> Path:
    path = folder / "hook.py"
    for before, after in swap.items():
        assert before in text
        text = text.replace(before, after)
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("pilot")
    done = run(hook(folder), *QUICK, "--output", "pilot.json")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_the_file_is_read_again_and_is_what_its_schema_says(raced: tuple[Path, str]) -> None:
    path = raced[0] / "pilot.json"
    pilot = read_pilot(path)
    assert pilot.text() == path.read_text()
    schema = call("pilot-file", command="schema")
    validate(json.loads(path.read_text()), json.loads(schema.stdout))
    assert [one.id for one in pilot.topologies] == ["star-star", "star-ring", "ring-star", "ring-ring"]
    assert (pilot.fleet.sizes, pilot.problem.clients, pilot.rounds) == ([3, 3], 9, 4)
    assert not {*pilot.seeds.tuning} & {*pilot.seeds.compared}
    assert len(pilot.seeds.compared) == 2


def test_numbers_follow_from_the_curves(raced: tuple[Path, str]) -> None:
    """Ends, targets and ratios, worked out again from the curves in the file."""
    pilot = read_pilot(raced[0] / "pilot.json")
    curves = {}
    for one in pilot.topologies:
        lines = np.array(one.loss, dtype=float)
        smooth = lines.copy()
        smooth[:, 2:4] = np.cbrt(lines[:, 1:3] * lines[:, 2:4] * lines[:, 3:5])
        curves[one.id] = smooth
        assert one.final is not None
        (first,) = (t.value for t in one.tried if (t.rate, t.rounds) == (one.rate, 4))  # of the seed of the rates
        assert one.final.value == pytest.approx((first + smooth[:, -1].mean()) / 2, rel=1e-5)
        assert lines[:, 0] == pytest.approx(pilot.start, rel=1e-5)
    reference = np.array(pilot.topologies[0].envelope)
    target = pilot.targets[-1]
    assert (target.reference_rounds, target.value) == (4, pytest.approx(reference[-1], rel=1e-5))
    for one in pilot.topologies:
        rounds = like(reference, np.array(one.envelope))
        assert target.rounds[one.id] == pytest.approx(rounds, rel=1e-3)
        ratio = target.ratios[one.id]
        assert ratio is not None and ratio.high is not None
        assert ratio.value == pytest.approx(rounds / 4, rel=1e-3)
        each = zip(curves["star-star"], curves[one.id], strict=True)
        off = [np.log(like(a, b) / like(a, a) / ratio.value) for a, b in each]
        # the seed of the rates beside the two: a table's Student quantile, 80 %, two degrees of freedom
        least = 1.8856 * np.sqrt(np.dot(off, off) / 2 * (1 + 1 / 3))
        half = np.log(ratio.high / ratio.value)
        assert half >= least * (1 - 1e-3) and (one.id == "star-star" or half >= 1.2816 * 0.083 * np.sqrt(1.5) - 1e-6)


def like(reference: Any, curve: Any) -> float:
    """Rounds of a curve to the end of the reference, which it had no better before, on a fine grid of both."""
    fine, best = np.linspace(0, 4, 400_001), [np.minimum.accumulate(c) for c in (reference, curve)]
    best[0] = np.maximum(best[0], reference[-1])
    one, other = (np.exp(np.interp(fine, range(5), np.log(c))) for c in best)
    if other[-1] <= one[-1]:
        return float(fine[np.argmax(other <= one[-1])])
    return 4 * 4 / float(fine[np.argmax(one <= other[-1])])


def test_the_envelope_is_the_best_that_any_tried_rate_has_after_each_round(raced: tuple[Path, str]) -> None:
    """On seeds that no rate was chosen with: the table had a loss of these, and rounds to that of another one."""
    pilot = read_pilot(raced[0] / "pilot.json")
    for one in pilot.topologies:
        assert one.final is not None
        assert one.envelope[-1] <= one.final.value * (1 + 1e-6)
        assert sorted(one.envelope, reverse=True) == one.envelope
    last, reference = pilot.targets[-1], pilot.topologies[0]
    assert reference.final is not None and last.value == pytest.approx(reference.final.value, rel=1e-6)


def test_the_answer_says_who_is_first(raced: tuple[Path, str]) -> None:
    first = raced[1].splitlines()[0]
    pilot = read_pilot(raced[0] / "pilot.json")
    best = min(pilot.topologies, key=lambda one: one.final.value if one.final else 9.0)
    assert best.id in pilot.verdict.best
    assert first.startswith(("Toss-up", *(word.title() for word in pilot.verdict.best)))
    said = " ".join(raced[1].split())
    assert "Raced hook.py: 51 parameters, clients 3 x 3, 2 local steps of 4; loss " in said
    assert "--pilot pilot.json" in raced[1]
    assert "Rounds differ in time: `recommend` (Next) ranks by it." in said


@pytest.mark.slow  # every run has one that is stopped, in `test_pilot_hga`, and stores that are killed, in `test_store`
@pytest.mark.parametrize("kills", [(6,), (1, 6)], ids=str)
def test_killed_at_any_time_it_goes_on_to_the_same_file(raced: tuple[Path, str], kills: tuple[int, ...]) -> None:
    folder = raced[0]
    for left in folder.glob("again.json*"):
        left.unlink()
    whole = (folder / "pilot.json").read_bytes()
    command = [sys.executable, "-m", "planner", "pilot", str(folder / "hook.py"), *QUICK, "-o", "again.json"]
    for cells in kills:
        process = subprocess.Popen(command, cwd=folder, env=ALONE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 120
        while _finished(folder / "again.json.runs") < cells and process.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not (folder / "again.json").exists()
    kept = _finished(folder / "again.json.runs")
    assert kept >= 6
    done = run(folder / "hook.py", *QUICK, "-o", "again.json")
    assert done.returncode == 0, done.stderr
    assert (folder / "again.json").read_bytes() == whole
    assert _finished(folder / "again.json.runs") > kept


def _finished(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=5) as db:
            return int(db.execute("SELECT count(finished) FROM cells").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_processes_share_the_work(raced: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """Copies of this process, as new ones take seconds to import torch."""
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip("this system makes no copies of processes")
    folder, context = raced[0], multiprocessing.get_context(start)
    monkeypatch.setattr("validation.sweep.multiprocessing.get_context", lambda _: context)
    (folder / "two.json.runs").unlink(missing_ok=True)
    (folder / "two.json").unlink(missing_ok=True)
    done = run(folder / "hook.py", *QUICK, "--workers", "2", "-o", "two.json")
    assert done.returncode == 0, done.stderr
    assert (folder / "two.json").read_bytes() == (folder / "pilot.json").read_bytes()


@pytest.mark.ray
@pytest.mark.filterwarnings("default")  # Ray's own warnings are not ours
def test_ray_gives_the_same_file(raced: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    from validation import sweep

    def here(*_: Any) -> int:
        raise AssertionError("a run was made in this process")

    folder = raced[0]
    monkeypatch.setattr(sweep, "work", here)
    monkeypatch.setenv("RAY_ADDRESS", "local")
    done = run(folder / "hook.py", *QUICK, "--engine", "ray", "--workers", "2", "-o", "ray.json")
    assert done.returncode == 0, done.stderr
    assert (folder / "ray.json").read_bytes() == (folder / "pilot.json").read_bytes()


def test_in_python_it_is_the_same_document(raced: tuple[Path, str], tmp_path: Path) -> None:
    scope = runpy.run_path(str(raced[0] / "hook.py"))
    whole = read_pilot(raced[0] / "pilot.json")
    found = planner.pilot(raced[0] / "hook.py", rounds=4, rates=4, seeds=2, batch=4, output=tmp_path / "p.json")
    assert (tmp_path / "p.json").read_bytes() == (raced[0] / "pilot.json").read_bytes()
    import torch

    torch.manual_seed(0)  # as the command seeds a hook
    own = planner.pilot(scope["model"](), scope["clients"](), test=scope["test"](), rounds=4, rates=4, seeds=2, batch=4)
    kept = [fitted(Pilot, one.pilot) for one in (own, found)]
    assert "Raced   your model: " in str(own)  # not its class: Sequential is a baseline
    assert kept[0].verdict == kept[1].verdict
    assert (found.verdict.status, kept[0].verdict.since) == (whole.verdict.status, whole.verdict.since)  # in 7 digits
    assert [one.loss for one in kept[0].topologies] == [one.loss for one in kept[1].topologies]
    assert list(own.verdict.best) == list(found.verdict.best) == whole.verdict.best
    assert repr(found).startswith("Pilot('") and "\n" not in repr(found)
    assert {row["id"] for row in found.rows} >= set(found.verdict.best)
    assert "Good rates" in found.explain()
    found.save(tmp_path / "answer.json")
    validate(json.loads((tmp_path / "answer.json").read_text()), schema_of(type(found)))
    by_file, by_value = (
        planner.recommend(pilot=one, details=False).verdict for one in (str(raced[0] / "pilot.json"), found)
    )
    assert by_value == by_file
    assert planner.load_scenario({"problem": {"pilot": found}}).pilot == whole


def test_in_python_it_says_what_did_not_run(raced: tuple[Path, str]) -> None:
    found = planner.pilot(raced[0] / "hook.py", rounds=1, rates=2, seeds=1, batch=4)
    typed = run(
        raced[0] / "hook.py", "--rounds", "1", "--rates", "2", "--seeds", "1", "--batch", "4", "--explain", "limits"
    )
    said = found.explain("limits")
    assert "Not run: FedAvg" in said
    assert said.split() == typed.stdout.split()


def test_accuracy_is_raced_where_there_is_a_test(raced: tuple[Path, str], tmp_path: Path) -> None:
    done = run(raced[0] / "hook.py", *QUICK, "--metric", "accuracy", "--json")
    assert done.returncode == 0, done.stderr
    pilot = fitted(Pilot, json.loads(done.stdout)["pilot"])
    assert pilot.metric == "accuracy"
    for one in pilot.topologies:
        assert one.final is not None
        (first,) = (t.value for t in one.tried if (t.rate, t.rounds) == (one.rate, pilot.rounds))
        last = np.array(one.accuracy)[:, -1]
        assert one.final.value == pytest.approx((first + last.mean()) / 2, abs=1e-6)
        assert one.final.value > pilot.start
    best = max(one.final.value for one in pilot.topologies if one.final)
    assert next(one for one in pilot.topologies if one.id == pilot.verdict.best[0]).final.value == best  # type: ignore[union-attr]
    refused = run(hook(tmp_path, **{"def test": "def other"}), *QUICK, "--metric", "accuracy")
    assert refused.returncode == 2
    assert "there is no test data" in refused.stderr


def test_nested_groups_make_deeper_trees_and_nobody_is_left_out_of_unequal_ones(tmp_path: Path) -> None:
    text = HOOK.replace('(f"g{c // 3}", *', '((f"n{c // 4}", f"g{c // 2}"), *')
    done = run(hook(tmp_path, text), *QUICK, "--topology", "ring-ring-ring", "-P", "2/1", "--json")
    assert done.returncode == 0, done.stderr
    pilot = fitted(Pilot, json.loads(done.stdout)["pilot"])
    assert [one.id for one in pilot.topologies] == ["star-star-star", "ring-ring-ring"]
    assert (pilot.fleet.sizes, pilot.fleet.passes, pilot.problem.clients) == ([3, 2, 2], [1, 2, 1], 9)
    assert pilot.fleet.children == [[3], [2, 2, 1], [2, 2, 2, 2, 1]]  # the last of three has one client
    assert pilot.fleet.samples is None


def test_topologies_that_are_one_algorithm_race_once(tmp_path: Path) -> None:
    done = run(hook(tmp_path, **{'f"g{c // 3}"': '"g"'}), *QUICK, "--json")
    pilot = fitted(Pilot, json.loads(done.stdout)["pilot"])
    assert [(one.id, one.alike) for one in pilot.topologies] == [
        ("star-star", ["ring-star"]),
        ("star-ring", ["ring-ring"]),
    ]


LOSS = "\ndef loss(outputs, targets):\n    return "
ROOT = LOSS + "((outputs * 0).square().sum(1)).sqrt().mean() + outputs.square().mean()"  # no slope at 0
UPHILL = """
class Turned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, slope):
        return -slope

def loss(outputs, targets):
    return nn.functional.cross_entropy(Turned.apply(outputs), targets)
"""


@pytest.mark.slow  # as documents they are in every run, in the next test, and one more on a page in that after it
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (HOOK + LOSS + "1 + (0 * outputs).sum(1).mean()", "constant", "the loss stayed at 1 whatever was trained"),
        (HOOK + UPHILL, "no-progress", "No topology came past the start"),
        (HOOK + ROOT, "diverged", "No topology has a rate at which runs stay finite."),
    ],
)
def test_what_cannot_be_chosen_between_is_said(tmp_path: Path, text: str, status: str, said: str) -> None:
    done = run(hook(tmp_path, text), *SHORT, "--topology", "ring-ring", "-o", "pilot.json")
    assert done.returncode == 0, done.stderr
    assert said in done.stdout.splitlines()[0]
    assert read_pilot(tmp_path / "pilot.json").verdict.status == status


ONE_LABEL = {  # outputs that training cannot turn, so that all samples have one label, or all are right
    "nn.Linear(6, 3))": "nn.Linear(6, 3), Far())",
    "def model": "class Far(nn.Module):\n    def forward(self, x):\n        return x.clamp(-1, 1) + "
    "torch.tensor([9, 0, 0])\n\ndef model",
}
RIGHT = {"return samples(200, 99)": "X, y = samples(200, 99); return X[y == 0], y[y == 0]"}
LEARNT = {
    "return samples(200, 99)": "X, y = samples(200, 99); return X[:40], model()(X[:40]).argmax(1)",
    "return nn.": "torch.manual_seed(3); return nn.",
}


@pytest.mark.parametrize(
    ("text", "swap", "options", "status", "first", "following", "way"),
    [
        (LOSS + "1 + (0 * outputs).sum(1).mean()", {}, (), "constant", "the loss stayed at 1", None, "with --force"),
        pytest.param(
            "",
            ONE_LABEL,
            ("--metric", "accuracy"),
            "constant",
            "the accuracy stayed at",
            "--metric loss",
            "--metric loss",
            marks=pytest.mark.slow,
        ),
        (
            "",
            ONE_LABEL | RIGHT,
            ("--metric", "accuracy"),
            "constant",
            "the accuracy is 1 before",
            "--metric loss",
            "loss",
        ),
        pytest.param(
            "",
            LEARNT,
            ("--metric", "accuracy"),
            "constant",
            "the accuracy is 1 before",
            "--metric loss",
            "--metric loss",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            UPHILL,
            {},
            (),
            "no-progress",
            "No topology came past the start",
            "--rounds 8",
            "more --rounds or smaller",
            marks=pytest.mark.slow,
        ),
        (
            ROOT,
            {},
            ("--rates", "0.1,0.2"),
            "diverged",
            "No topology has a rate",
            "--rates ",
            "smaller --rates, or scale the inputs",
        ),
        ("", {}, ("--within", "1ms"), "too-short", "It cannot be told yet", "--within 60s", "more --within, or none"),
    ],
)
def test_a_race_that_decides_nothing_says_what_to_do_next(
    tmp_path: Path, text: str, swap: dict[str, str], options: tuple[str, ...], status: str, first: str,
    following: str | None, way: str,
) -> None:  # fmt: skip
    """The next command had lost the options, and was the same again, or was refused as the file exists."""
    own, given = hook(tmp_path, HOOK + text, **swap), (*SHORT, "--topology", "ring-ring", *options, "-o", "pilot.json")
    found = json.loads(run(own, *given, "--json").stdout)
    assert (found["pilot"]["verdict"]["status"], first in found["verdict"]["text"]) == (status, True)
    assert way in found["warnings"][0]["text"]
    with pytest.raises(planner.ScenarioError) as refused:
        planner.recommend(pilot=tmp_path / "pilot.json")
    assert way in str(refused.value) and "--force" in str(refused.value)
    if following is None:
        assert found["next"] == []
        return
    ((dots, *more),) = [step["argv"] for step in found["next"]]
    assert dots == "..." and " ".join(more).startswith(following)
    if status == "diverged":  # which takes longest to run again
        return
    again = run(own, *given, *more)
    assert again.returncode == 0, again.stderr
    assert read_pilot(tmp_path / "pilot.json").metric == (
        "loss" if following == "--metric loss" else found["pilot"]["metric"]
    )


def test_a_budget_that_ends_too_early_is_said(tmp_path: Path) -> None:
    done = run(hook(tmp_path), "--within", "1ms", "-o", "pilot.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("It cannot be told yet: the budget ended")
    pilot = read_pilot(tmp_path / "pilot.json")
    assert (pilot.verdict.status, pilot.rounds) == ("too-short", 0)
    assert pilot.cut[-1].what == "race"


@pytest.mark.parametrize(
    ("swap", "options", "code", "said"),
    [
        ({"+ y[:, None]": "+ y[:, None] * float('nan')"}, (), 1, "hook.py: client 0: the loss is nan before training"),
        (
            {"return samples(200, 99)": "X, y = samples(200, 99); X[7, 1] = float('nan'); return X, y"},
            (),
            1,
            "the test: the loss is nan before training, not a finite number; X of sample 7 is not finite. Check its",
        ),
        (
            {
                "def test": "def loss(o, t):\n    return nn.functional.cross_entropy(o.nan_to_num(), t)\n\ndef test",
                "return samples(200, 99)": "X, y = samples(200, 99); X[7, 1] = float('nan'); return X, y",
            },
            ("--metric", "accuracy"),
            1,
            "the test: the model's outputs for sample 7 are nan, which is no label. Check its data and the model, or",
        ),
        ({"20 + c": "c"}, (), 1, "client 0 is empty: it has no samples. Leave it out."),
        ({"return nn.Sequential": "return 3  #"}, (), 1, "the model is of type int, not an nn.Module"),
        ({"def model": "def modle"}, (), 2, "has no function model()"),
        ({"def test():": "def test():\n    raise KeyError(7)\n"}, (), 2, "test() failed at line"),
        ({}, ("--rates", "0.1"), 2, "--rates: '0.1' is no count, such as 9, and no list of raw rates"),
        ({}, ("--rates", "1"), 2, "--rates: 1 is not from 2 to 33"),
        ({}, ("--rounds", "0"), 2, "--rounds: 0 is not from 1 to 100,000"),
        ({}, ("--within", "soon"), 2, "--within"),
        ({}, ("--topology", "ring-rnig"), 2, "--topology: 'ring-rnig' is none of this tree"),
        ({}, ("--drawn", "4/1"), 2, "--drawn: 4/1 does not fit a tree of 3/3"),
        ({}, ("-P", "2/2"), 2, "-P: 2 numbers for 1 tiers below the top one"),
        ({}, ("--metric", "f1"), 2, "--metric: 'f1' is not one of loss, accuracy"),
        ({}, ("-o", "hook.py"), 2, "'hook.py' does not end in one of .json"),
        ({}, ("--device", "tpu"), 1, "no device is called 'tpu'"),
    ],
)
def test_misuse_is_refused_in_one_line(
    tmp_path: Path, swap: dict[str, str], options: tuple[str, ...], code: int, said: str
) -> None:
    done = run(hook(tmp_path, **swap), *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr.replace("\n  help: ", ". ")
    assert done.stderr.count("\n") == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('{"schema": "hfl-plan/pilot/9"}', "its schema is 'hfl-plan/pilot/9', and hfl-plan/pilot/1 is read"),
        ("{}", "it names no schema, and hfl-plan/pilot/1 is read"),
        ("", "is empty"),
        ("{", "is not JSON (line 1, column 2)"),
        ('{"schema": "hfl-plan/pilot/1"}', "software: Field required"),
    ],
)
def test_a_file_that_is_no_pilot_is_refused(tmp_path: Path, change: str, said: str) -> None:
    path = tmp_path / "pilot.json"
    path.write_text(change)
    with pytest.raises(planner.ScenarioError) as refused:
        read_pilot(path)
    assert said in str(refused.value)
    assert "hfl-plan pilot HOOK.py -o pilot.json" in str(refused.value)


def test_curves_cross_levels_where_lines_of_logarithms_do() -> None:
    assert crossing([8, 2, 1], 4) == 0.5
    assert crossing([8, 2, 1], 8) == 0
    assert crossing([8, 2, 1], 1) == 2
    assert crossing([8, 2, 1], 0.5) == float("inf")
    assert crossing([4, 2, 0], 3) == 0.5  # numbers that have no logarithm
    assert crossing([4, float("inf"), 1], 3) == 2
    assert value_at([8, 2], 0.5) == pytest.approx(4)
    assert rounds_like([8, 4, 2, 1], [8, 2, 0.5, 0.25], 2) == pytest.approx(1)
    assert rounds_like([8, 4, 2, 1], [8, 7, 6, 4], 2) == pytest.approx(2 * 3 / 1)  # in 3 what the first has in 1
    assert rounds_like([8, 4, 2, 1], [8, 8, 8, 8], 2) == float("inf")
    assert rounds_like([8, 2, 2, 2], [8, 7, 6, 4], 3) == pytest.approx(1 * 3 / 0.5)  # what the first has after 1
    still = [2.29, 1.725, 1.53, 1.284, 1.112, 0.9907]  # whose last logarithm is not read back to the bit
    assert rounds_like(still, still, 5) == pytest.approx(5)
    assert kept([8, 2, 1, 3]).tolist() == [8, 3, 3, 3] and kept([8, 2, 9]).tolist() == [8, 2, 2]


COUNTED = "client,group,4,7\na,x,30,0\nb,x,20,9\nc,y,0,40\nd,y,10,10\n"


@pytest.mark.usefixtures("unflipped")
def test_label_counts_are_raced_on_a_proxy_which_the_answers_say(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(COUNTED)
    options = ("--data", "counts.csv", "--proxy", "digits", *QUICK, "-o", "pilot.json")
    with contextlib.chdir(tmp_path):
        done = call(*options)
    assert done.returncode == 0, done.stderr
    assert "Limits A proxy: your label counts on other data" in " ".join(done.stdout.split())
    pilot = read_pilot(tmp_path / "pilot.json")
    assert (pilot.problem.proxy, pilot.problem.name) == (True, "counts.csv on digits")
    assert (pilot.problem.samples, pilot.fleet.sizes) == (119, [2, 2])
    answer = planner.recommend(G=2, M=2, pilot=str(tmp_path / "pilot.json"))
    assert any("a proxy: your label counts on other data" in said for said in answer.recommend.notes)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--data", "counts.csv"), 2, "name a HOOK.py with your model and data, or label counts and a data set"),
        (("hook.py", "--proxy", "digits"), 2, "name a HOOK.py"),
        ((), 2, "name a HOOK.py"),
        (
            ("--data", "counts.csv", "--proxy", "cats"),
            2,
            "--proxy: no data set is called 'cats'. Known are digits,",
        ),
        (("--data", "nowhere.csv", "--proxy", "digits"), 2, "nowhere.csv"),
    ],
)
def test_a_race_on_counts_names_both(tmp_path: Path, options: tuple[str, ...], code: int, said: str) -> None:
    (tmp_path / "counts.csv").write_text(COUNTED)
    with contextlib.chdir(tmp_path):
        done = call(*options)
    assert done.returncode == code
    assert said in done.stderr.replace("\n  help: ", ". ")
