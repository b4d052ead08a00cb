"""Servers that do not wait, in a pilot: the literal algorithms on the same batches and delays, and what is refused."""

from __future__ import annotations

import itertools
import json
import re
import runpy
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from reference_async import Server, Settings, arrivals  # noqa: E402
from test_pilot_cli import QUICK, SHORT, _finished, hook, run  # noqa: E402

import planner  # noqa: E402
from planner.data.pilot import Beside, Interval, Pilot, read_pilot  # noqa: E402
from planner.errors import ScenarioError  # noqa: E402
from planner.families.raced import read  # noqa: E402
from planner.harness.pilot import Fleet  # noqa: E402
from planner.io import wording  # noqa: E402
from planner.report.answers.pilot import document  # noqa: E402
from validation.experiment import Cell  # noqa: E402
from validation.problems.supplied import problem, supplied  # noqa: E402

SLOW = (1.0, 1.5, 4.0)
ASKED = ("--systems", "trees,hga", "--slowdowns", "1,1.5,4", "--topology", "star-star")
IDS = ("hga-fl", "fedbuff-1", "fedbuff", "ca2fl", "fedasync", "synchronous")
NINE = Fleet(9, 9, (1, 1), 2, "fixed", None, ((3,), (3, 3, 3)))


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("hga")
    done = run(hook(folder), *QUICK, *ASKED, "-P", "2", "-K", "1", "-o", "hga.json")
    assert (done.returncode, done.stderr) == (0, "hfl-plan: wrote hga.json\n")
    return folder, done.stdout


def beside(pilot: Pilot) -> dict[str, Beside]:
    return {one.id: one for one in pilot.beside}


class Literal:
    """The hook's model as one vector, its loss, and the gradients on the batches that the race draws."""

    def __init__(self, folder: Path) -> None:
        scope = runpy.run_path(str(folder / "hook.py"))
        torch.manual_seed(0)
        self.clients, self.module = scope["clients"](), scope["model"]()
        self.shapes = {name: part.shape for name, part in self.module.named_parameters()}
        self.inputs = torch.cat([x for _, x, _ in self.clients])
        self.targets = torch.cat([y for _, _, y in self.clients])
        self.draws = problem(supplied(self.module, self.clients, batch=4), measured=5000).draws

    def spent(self, w: Any, x: Any, y: Any) -> Any:
        parts = w.split([shape.numel() for shape in self.shapes.values()])
        named = {name: part.view(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}
        return torch.nn.functional.cross_entropy(torch.func.functional_call(self.module, named, (x,)), y)

    def loss(self, w: Any) -> float:
        return sum(float(self.spent(w, x, y)) for _, x, y in self.clients) / len(self.clients)

    def gradient(self, seed: int) -> Any:
        def found(t: int, r: int, j: int, i: int, e: int, first: bool, x: Any) -> Any:
            assert not first  # caches are empty at first: nobody works before the clock starts
            return self.slope(x, self.draws([seed], (t, r), 1)[0, 3 * j + i, e])

        return found

    def slope(self, x: Any, rows: Any) -> Any:
        w = x.detach().requires_grad_()
        return torch.autograd.grad(self.spent(w, self.inputs[rows], self.targets[rows]), w)[0]


@pytest.mark.parametrize("name", IDS)
def test_the_raced_curve_is_the_literal_algorithms(raced: tuple[Path, str], name: str) -> None:
    pilot = read_pilot(raced[0] / "hga.json")
    one, made = beside(pilot)[name], Literal(raced[0])
    assert one.rate is not None
    buffer = {"fedasync": 1, "fedbuff-1": 1, "synchronous": 3}.get(name, 2)
    asynchronous = name == "fedasync"
    told = Settings(
        above=name.removesuffix("-1"), below="dyn" if name == "hga-fl" else "avg", M=3, N=3, R_sub=2, E=1, eta=one.rate,
        alpha=2.0,
        eta_g=0.6 if asynchronous else 1.0, damp=lambda late: (1 + late) ** (-0.5 if asynchronous else 0),
        filled=False,
    )  # fmt: skip
    order = list(islice(arrivals(3, buffer, lambda j, n: SLOW[j]), len(one.times) - 1))
    assert one.times == pytest.approx([0.0, *(now for _, now in order)], rel=1e-6)
    assert one.times[-1] <= 4 * 4.0 < next(islice(arrivals(3, buffer, lambda j, n: SLOW[j]), len(order), None))[1]
    for seed, curve in zip(pilot.seeds.compared, one.loss, strict=True):
        start = torch.cat([part.detach().flatten() for part in made.module.parameters()])
        server = Server(start, told, made.gradient(seed))
        losses = [made.loss(start), *(made.loss(server.step(who)) for who, _ in order)]
        assert curve == pytest.approx(losses, rel=1e-4)


def test_the_server_that_waits_is_star_star(raced: tuple[Path, str]) -> None:
    pilot = read_pilot(raced[0] / "hga.json")
    one, star = beside(pilot)["synchronous"], pilot.topologies[0]
    assert one.loss == [pytest.approx(curve, rel=2e-5) for curve in star.loss]
    assert one.envelope == pytest.approx(star.envelope, rel=1e-4)
    assert one.times == pytest.approx([4.0 * r for r in range(5)])
    for target in pilot.targets:
        assert target.times["synchronous"].value == pytest.approx(4.0 * target.rounds["star-star"], rel=1e-3)
        assert target.times.keys() == set(IDS)
        assert target.beside == target.beside_ratios == {}  # they have no rounds


def test_at_equal_speeds_a_buffer_of_all_is_the_mean(tmp_path: Path) -> None:
    words = ("--systems", "trees,hga", "--speed-ratio", "1", "--buffer", "3", "--topology", "star-star", "-o", "a.json")
    assert run(hook(tmp_path), *QUICK, *words).returncode == 0
    by = beside(read_pilot(tmp_path / "a.json"))
    assert by["fedbuff"].loss == [pytest.approx(curve, rel=1e-6) for curve in by["synchronous"].loss]
    assert by["ca2fl"].loss == [pytest.approx(curve, rel=2e-5) for curve in by["synchronous"].loss]
    assert by["fedbuff"].times == by["synchronous"].times == [0, 1, 2, 3, 4]
    assert by["fedasync"].times == [0, *[1] * 3, *[2] * 3, *[3] * 3, *[4] * 3]


def test_the_page_has_times_and_no_rounds_of_them(raced: tuple[Path, str]) -> None:
    pilot, said = read_pilot(raced[0] / "hga.json"), raced[1]
    rows = [line.split() for line in said.splitlines() if line.strip().startswith("- ")]
    times = {name: pilot.targets[-1].times[name].value for name in ("fedbuff-1", "fedbuff")}
    quickest = beside(pilot)[min(times, key=lambda name: times[name])]
    [told] = [line for line in said.splitlines() if "- FedBuff," in line]
    assert quickest.final is not None and f"{quickest.final.value:.3g} [" in told
    assert len(rows) == len(IDS) - 1 and "1 more buffer: --explain rows" in said
    assert all(row[-2] == "-" for row in rows if row[1] != "Synchronous")  # rounds, then tasks
    star = next(line.split() for line in said.splitlines() if "Star-Star" in line and "[" in line)
    assert star[-2:] == ["4", "16"]
    assert "have no rounds" in said
    assert set(pilot.verdict.ahead) == set()
    reached = {name: found.value for name, found in pilot.targets[-1].times.items() if found and name != "synchronous"}
    first = min(reached, key=lambda name: reached[name])
    words = beside(pilot)[first].title.replace(", ", " with ")
    headline = " ".join(said.partition("topology")[0].split())  # Star-Star waits for 4 rounds of 4 tasks
    assert f"Without waiting, {words} is the quickest: loss " in headline
    assert f" in {wording.times(reached[first] / 16)} the time of Star-Star, which waits." in headline
    assert "hfl-plan async --G 3 " in said


def test_a_server_that_waits_takes_as_many_tasks_as_the_tree_that_it_is(raced: tuple[Path, str]) -> None:
    """Star-Star reached the target before its last round, and had the tasks of all rounds; the page of such a race."""
    pilot = read_pilot(raced[0] / "hga.json")
    last, rounds = pilot.targets[-1], 3.5
    times = {**last.times, "synchronous": Interval(value=4 * rounds)}
    last = last.replaced(rounds={**last.rounds, "star-star": rounds}, times=times)
    answer = document(pilot.replaced(targets=[last]), None, None, ())
    rows = {line.split("  ")[1].strip(): line.split() for line in str(answer).splitlines() if "[" in line}
    assert rows["Star-Star"][-2:] == ["3.5", "14"]
    assert rows["- Synchronous"][-2:] == ["-", "14"]
    least = min(one.value for name, one in times.items() if one is not None and name != "synchronous")
    assert f"in {wording.times(least / (4 * rounds))} the time of Star-Star, which waits." in answer.verdict.text


@pytest.mark.usefixtures("unflipped")
def test_async_says_what_the_pilot_measured_beside_the_bound(raced: tuple[Path, str]) -> None:
    """By the times that `recommend` has of the same servers; the verdict is what was measured, at speeds like these."""
    pilot = str(raced[0] / "hga.json")
    times = {row.title: float(row.time_seconds) for row in planner.recommend(pilot=pilot).rows if row.id in IDS}
    seconds = pytest.approx(dict(times))
    waiting = times.pop("Synchronous mean")
    best = min(times, key=lambda name: times[name])
    found = planner.async_(pilot=pilot, slowdowns="1,1.5,4")
    assert "no run but your pilot judged times" in " ".join(str(found).split())
    ratio = times[best] / waiting
    method, _, buffer = best.partition(", ")
    said = f"in your pilot {method} with {buffer} takes {wording.times(ratio)} the time of waiting for all"
    assert method == "FedBuff"  # which alone raced with two
    said += f"; with 1, {wording.times(times['FedBuff, buffer 1 of 3'] / waiting)}."
    assert ratio < 0.9
    measured = found.asynchronous["measured"]  # the page had times of the bound alone
    assert {one["title"]: one["seconds"] for one in measured} == seconds
    assert (measured[0]["title"], measured[-1]["id"]) == (best, "synchronous")
    assert "time by bound" in str(found) and "Measured  to the target in your pilot, FedBuff" in str(found)
    assert found.verdict.text.startswith(f"Do not wait: {said}")
    assert (found.verdict.status, found.verdict.best) == ("measured", ())
    assert found.verdict.ratio == pytest.approx(1 / ratio)
    assert [row.buffer for row in found.rows if row.best_by_bound] == [3]
    assert list(dict.fromkeys(found.asynchronous["named_buffers"])) == [2, 1]  # which a page of many rows keeps
    assert not any("pilot" in one.argv for one in found.next)
    assert planner.async_(pilot=pilot).rows == found.rows  # at the pilot's speeds where nothing else is said
    late = {row.buffer: row.staleness_most for row in found.rows}
    assert late[1] > late[2] > 0
    limited = planner.async_(pilot=pilot, max_staleness=late[2])  # what exceeds the limit is not what was measured
    assert {one["buffer"] for one in limited.asynchronous["measured"] if one["id"] != "synchronous"} == {2}
    assert limited.verdict.text.startswith(f"Do not wait: {said.partition(';')[0]}. The bound covers no such server")
    assert not any("pilot" in one.argv for one in limited.next)
    none = planner.async_(pilot=pilot, max_staleness=late[2] - 1).verdict
    assert (none.status, none.text.endswith(f" leaves no smaller buffer; {late[2]} would allow one of 2.")) == (
        "best",
        True,
    )
    elsewhere = planner.async_(pilot=pilot, slowdowns="1,1,2")
    assert elsewhere.asynchronous["measured"] == [] and "time by bound" not in str(elsewhere)
    other = elsewhere.verdict
    assert other.text.startswith("By the bound, ") and other.status == "best"
    assert (
        f"raced regions that take 1, 1.5 and 4 times as long, which differ from these: there {method} with {buffer} "
        in other.text
    )
    assert other.text.endswith("Race at these speeds too.")
    far = planner.async_(pilot=pilot, slowdowns="1,1,10")  # less was advised than without a pilot: to wait
    assert far.verdict.text.startswith("Race FedBuff (means of 1 or 2 updates) and FedAsync ")
    assert " first: your pilot raced " in far.verdict.text
    assert far.verdict.status == planner.async_(G=3, M=2, slowdowns="1,1,10").verdict.status == "race-first"
    assert any("pilot" in one.argv for one in far.next)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"fedbuff"}, "It raced with no other buffer (Next)."),
        ({"fedbuff-1"}, "It raced with no other buffer (Next)."),
        ({"fedasync"}, "your pilot FedAsync takes "),
        ({"fedbuff", "fedbuff-1"}, "x the time of waiting for all; with "),
    ],
)
def test_async_says_which_buffers_were_not_raced(
    raced: tuple[Path, str], tmp_path: Path, left: set[str], said: str
) -> None:
    """A pilot as earlier versions wrote it: one buffer of a rule, or the one that it was asked for."""
    text = json.loads((raced[0] / "hga.json").read_text())
    text["beside"] = [one for one in text["beside"] if one["id"] in left | {"synchronous"}]
    for target in text["targets"]:
        target["times"] = {name: time for name, time in target["times"].items() if name in left | {"synchronous"}}
    (file := tmp_path / "old.json").write_text(json.dumps(text))
    answer = planner.async_(pilot=str(file))
    found, race = answer.verdict.text, "hfl-plan pilot HOOK.py --systems trees,hga --slowdowns 1,1.5,4 --buffer 1,2"
    assert said in found
    assert (race in {" ".join(one.argv) for one in answer.next}) == (len(left) == 1 and left != {"fedasync"})
    if len(left) == 2:
        assert sorted(re.search("buffer (.) of 3 takes .* all; with (.),", found).groups()) == ["1", "2"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("regions", "buffer", "of_fedbuff", "of_others"),
    [
        (2, None, {"fedbuff": 1}, {"ca2fl": 1}),
        (3, None, {"fedbuff-1": 1, "fedbuff": 2}, {"ca2fl": 2}),
        (4, None, {"fedbuff-1": 1, "fedbuff": 2, "fedbuff-3": 3}, {"ca2fl": 2}),
        (10, None, {"fedbuff-3": 3, "fedbuff": 5, "fedbuff-8": 8}, {"ca2fl": 5}),
        (4, "3", {"fedbuff": 3}, {"ca2fl": 3}),
        (4, "1,4", {"fedbuff": 1, "fedbuff-4": 4}, {"ca2fl": 1, "ca2fl-4": 4}),
        (4, "1:2", {"fedbuff-1": 1, "fedbuff": 2}, {"ca2fl-1": 1, "ca2fl": 2}),
    ],
)
def test_which_buffers_race(
    regions: int, buffer: str | None, of_fedbuff: dict[str, int], of_others: dict[str, int]
) -> None:
    """Half of the regions has the id of the rule; every rule races with those that are asked for."""
    fleet = Fleet(3 * regions, 3 * regions, (1, 1), 2, "fixed", None, ((regions,), (3,) * regions))
    found = read("trees,hga", speed_ratio="8", buffer=buffer).racers(fleet)
    for rule, expected in (("fedbuff", of_fedbuff), ("ca2fl", of_others)):
        own = [one for one in found if one.algorithm == rule]
        assert {one.id: one.options["K_buf"] for one in own} == expected
        assert [one.title.split()[2:] for one in own] == [[str(k), "of", str(regions)] for k in expected.values()]


def test_stopped_it_goes_on_to_the_same_file(raced: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed, a race of trees does so in `test_pilot_cli`."""
    folder, made, whole = raced[0], itertools.count(1), Cell.run
    asked = (*SHORT, *ASKED, "-K", "1")
    assert run(folder / "hook.py", *asked, "-o", "whole.json").returncode == 0
    options = (*asked, "-o", "again.json")

    def some(cell: Cell, *how: Any, **more: Any) -> Any:
        if next(made) > 4:
            raise KeyboardInterrupt
        return whole(cell, *how, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Cell, "run", some)
        assert run(folder / "hook.py", *options).returncode == 130
    kept = _finished(folder / "again.json.runs")
    assert kept == 4
    assert not (folder / "again.json").exists()
    assert run(folder / "hook.py", *options).returncode == 0
    assert (folder / "again.json").read_bytes() == (folder / "whole.json").read_bytes()
    assert _finished(folder / "again.json.runs") > kept


@pytest.mark.parametrize(
    ("words", "fleet", "said"),
    [
        ((None, None, None), NINE, "Give one of --slowdowns 1,1.2,8 and --speed-ratio 8"),
        (("1,2,3", "8", None), NINE, "say the same"),
        (("1,2", None, None), NINE, "--slowdowns: 2 numbers for 3 regions"),
        (("1,2,x", None, None), NINE, "--slowdowns"),
        (("1,2,3", None, "4"), NINE, "--buffer: 4 is not from 1 to the 3 regions"),
        (("1,2,3", None, "0"), NINE, "--buffer: '0' is not a whole number from 1"),
        (("1,2,3", None, "two"), NINE, "--buffer: 'two' is not a whole number from 1"),
        ((None, "8", None), Fleet(9, 6, (1, 1), 2, "fixed", None, ((3,), (3, 3, 3))), "everybody takes part"),
        ((None, "8", None), Fleet(9, 9, (1, 1), 2, "fixed", None, ((3,), (2, 3, 4))), "groups of one size"),
        ((None, "8", None), Fleet(9, 9, (1, 1), 2, "fixed", None, ((1,), (9,))), "one group is no regions"),
    ],
)
def test_what_cannot_race_is_refused(words: tuple[Any, Any, Any], fleet: Fleet, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read("trees,hga", **dict(zip(("slowdowns", "speed_ratio", "buffer"), words, strict=True))).racers(fleet)
    assert said in str(refused.value)


def test_speeds_are_for_those_who_race(raced: tuple[Path, str]) -> None:
    done = run(raced[0] / "hook.py", "--slowdowns", "1,2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--slowdowns: is for --systems hga" in done.stderr
