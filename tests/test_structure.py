"""The number of groups, searched: against enumeration, a loop over explicit deviations, and what theory says."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from test_cli import run

from planner import structure
from planner.errors import NoAnswerError, ScenarioError
from planner.prediction import ask
from planner.recommend import recommend
from planner.recommendation import Recommendation
from planner.scenario import Scenario, load
from planner.structure import divisors, expected

N100 = [1, 2, 4, 5, 10, 20, 25, 50, 100]


def scenario(**given: object) -> Scenario:
    keys = {"N": "fleet.clients", "G": "fleet.groups", "M": "fleet.clients_per_group", "P": "fleet.group_rounds"}
    keys |= {"S1": "fleet.groups_per_round", "S2": "fleet.clients_per_round", "H": "problem.heterogeneity"}
    keys |= {"sigma": "problem.sigma", "R": "problem.rounds", "target": "problem.target", "o": "plan.objective"}
    return load(options={keys.get(k, k.replace("__", ".")): (k, v) for k, v in given.items()})


def answer(**given: object) -> Recommendation:
    return recommend(scenario(**given))


def divisions_of(members: tuple[int, ...], size: int) -> list[list[tuple[int, ...]]]:
    """Every way to put them into groups of one size."""
    if not members:
        return [[]]
    first, rest = members[0], members[1:]
    return [
        [(first, *others), *more]
        for others in itertools.combinations(rest, size - 1)
        for more in divisions_of(tuple(i for i in rest if i not in others), size)
    ]


def deviations(points: list[tuple[Fraction, ...]], groups: list[tuple[int, ...]]) -> tuple[Fraction, Fraction]:
    """``(zeta^2, delta^2)`` by their definitions."""

    def mean(of: list[tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
        return tuple(sum(x) / Fraction(len(of)) for x in zip(*of, strict=True))

    def apart(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> Fraction:
        return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))

    means = [mean([points[i] for i in g]) for g in groups]
    zeta2 = sum((apart(points[i], m) for g, m in zip(groups, means, strict=True) for i in g), Fraction(0))
    return zeta2 / len(points), sum((apart(m, mean(means)) for m in means), Fraction(0)) / len(groups)


def csv_of(rows: list[list[int]], path: Path) -> str:
    path.write_text("client,a,b,c\n" + "".join(f"c{i},{','.join(map(str, r))}\n" for i, r in enumerate(rows)))
    return str(path)


# ---------------------------------------------------------------- the expectation


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_the_expectation_is_the_mean_over_every_division_of_six(groups: int) -> None:
    points = [tuple(map(Fraction, p)) for p in ((0, 1), (3, -2), (5, 5), (-7, 2), (1, 1), (4, -9))]
    every = [deviations(points, d) for d in divisions_of(tuple(range(6)), 6 // groups)]
    assert len(every) == math.factorial(6) // (math.factorial(6 // groups) ** groups * math.factorial(groups))
    zeta2, delta2 = (sum(x) / Fraction(len(every)) for x in zip(*every, strict=True))
    total2, _ = deviations(points, [tuple(range(6))])
    assert expected(total2, 6, groups) == (zeta2, delta2)
    assert {z + d for z, d in every} == {total2}  # regrouping moves it and keeps the sum


def test_divisors_are_those_of_trial_division() -> None:
    for number in (1, 2, 36, 97, 100, 720):
        assert divisors(number) == [d for d in range(1, number + 1) if number % d == 0]


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize("objective", ["rounds", "time", "bytes"])
@pytest.mark.parametrize("local", [{"P": 1}, {"P": 4}])
def test_the_best_division_is_that_of_a_loop_over_explicit_deviations(objective: str, local: dict[str, int]) -> None:
    given = {**local, "target": 0.05, "o": objective}
    found = answer(N=100, H="zeta=0.6,delta=0.8", **given)
    assert [d.groups for d in found.divisions] == N100
    by_hand = {}
    own: dict[str, tuple[float, int]] = {}
    for groups, row in zip(N100, found.divisions, strict=True):
        zeta, delta = math.sqrt((100 - groups) / 99), math.sqrt((groups - 1) / 99)  # H = 1
        ranking = answer(G=groups, M=100 // groups, H=f"zeta={zeta!r},delta={delta!r}", **given).ranking
        for r in ranking:
            taken = {"rounds": r.rounds, "time": r.seconds, "bytes": r.bytes}[objective]
            own[r.topology] = min(own.get(r.topology, (math.inf, 0)), (taken, groups))
        alone = ranking[0]
        assert (row.zeta, row.delta) == pytest.approx((zeta, delta), rel=1e-12)
        assert (row.topology, row.rounds) == (alone.topology, alone.rounds)
        assert (row.seconds, row.bytes) == pytest.approx((alone.seconds, alone.bytes), rel=1e-12)
        by_hand[groups] = {"rounds": alone.rounds, "time": alone.seconds, "bytes": alone.bytes}[objective]
    assert found.scenario["G"].value == min(by_hand, key=lambda g: by_hand[g])
    assert found.scenario["G"].value * found.scenario["M"].value == found.scenario["clients"].value == 100
    best = next(d for d in found.divisions if d.groups == found.scenario["G"].value)
    assert (best.tie, best.topology, best.rounds) == (1, found.ranking[0].topology, found.ranking[0].rounds)
    assert len(set(by_hand.values())) > 1
    names = {"star-star": "Star-Star", "star-ring": "Star-Ring", "ring-star": "Ring-Star", "ring-ring": "Ring-Ring"}
    listed = ", ".join(f"{name} G = {own[topology][1]}" for topology, name in names.items())
    assert f"Each topology at its own best: {listed}." in found.explanation[1]


def test_one_target_for_all_divisions() -> None:
    """What Star-Star in one group, where all heterogeneity is intra-group, reaches in the rounds given."""
    found = answer(N=100, H="zeta=0.6,delta=0.8", R=400)
    flat = answer(G=1, M=100, H="zeta=1", R=400)
    assert found.scenario["target"].value == flat.scenario["target"].value
    first = next(d for d in found.divisions if d.groups == 1)
    assert first.rounds == flat.ranking[0].rounds
    with pytest.raises(NoAnswerError, match="Give more --rounds"):
        answer(N=100, H="both", R=1)


def test_where_groups_are_free_only_the_sum_of_squares_counts() -> None:
    intra, inter = (answer(N=60, H=preset) for preset in ("intra", "inter"))
    assert intra.divisions == inter.divisions
    assert any("say the same" in w for w in intra.warnings)
    assert answer(N=60, H="zeta=0.6,delta=0.8").divisions == answer(N=60, H="zeta=1").divisions


# ---------------------------------------------------------------- what theory says


def by_division(topology: str, clients: int, *names: str, group_rounds: int = 1) -> dict[int, float]:
    """The sum of these terms of the bound, by number of groups, at one learning rate."""
    found = scenario(N=clients, H="zeta=1", sigma=1, P=group_rounds, plan__bounds="zhou2026.thm1")
    terms = {}
    for s in found.divisions:
        question = ask(s)
        split = question.bounds[topology].split(**question.values, R=1000, eta_eff=0.01)
        terms[int(question.values["G"])] = sum(float(split[n]) for n in names)
    return terms


@pytest.mark.parametrize(("clients", "best"), [(32, 4), (256, 8), (864, 12), (4000, 20)])
def test_ring_star_is_best_near_the_cube_root_of_two_n(clients: int, best: int) -> None:
    """zhou2026.C5: zeta^2 / G^2 + delta^2 is smallest where G^3 + G = 2 N, here next to a divisor."""
    terms = by_division("ring-star", clients, "intra_drift", "inter_drift")
    assert best**3 == 2 * clients
    assert min(terms, key=lambda g: terms[g]) == best


def test_star_ring_gets_worse_with_more_groups() -> None:
    """Its short rings average less noise; P divides zeta and not delta, so with P = 1 only their sum counts."""
    drift = list(by_division("star-ring", 720, "intra_drift", "inter_drift").values())
    assert len(drift) == 30
    assert drift == pytest.approx([drift[0]] * 30, rel=1e-12)
    for terms in (
        by_division("star-ring", 720, "noise_drift"),
        by_division("star-ring", 720, "intra_drift", "inter_drift", group_rounds=4),
    ):
        assert all(a < b for a, b in itertools.pairwise(terms.values()))


# ---------------------------------------------------------------- label counts


def test_label_counts_choose_the_groups_as_enumeration_does(tmp_path: Path) -> None:
    """Counts so large that their noise is nothing: the chosen division has the least delta^2 of all."""
    rows = [[9, 1, 0], [8, 0, 2], [0, 10, 0], [1, 2, 7], [0, 3, 7], [5, 0, 5]]
    file = csv_of([[1_000_000 * n for n in row] for row in rows], tmp_path / "counts.csv")
    found = answer(N=6, H=file, sigma=1)
    shares = [tuple(Fraction(n, 10) for n in row) for row in rows]
    scale2 = Fraction(3, 2)  # a one-label client among three labels stands sigma from an even mixture
    for row in found.divisions:
        every = [deviations(shares, d) for d in divisions_of(tuple(range(6)), 6 // row.groups)]
        zeta2, delta2 = min(every, key=lambda pair: pair[1])
        assert row.grouping == "chosen"
        assert row.delta**2 == pytest.approx(float(scale2 * delta2), abs=1e-6)
        assert row.zeta**2 == pytest.approx(float(scale2 * zeta2), abs=1e-6)
    assert any("chosen by label counts" in s for s in found.explanation)


def test_many_clients_are_taken_at_random_and_the_answer_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[1_000_000, 0, 0], [0, 1_000_000, 0], [0, 0, 1_000_000], [1_000_000, 0, 0]]
    file = csv_of(rows, tmp_path / "counts.csv")
    monkeypatch.setattr(structure, "LARGEST_CHOSEN", 3)
    found = answer(N=4, H=file)
    assert {d.grouping for d in found.divisions} == {"random"}
    assert any("at random: choosing them for more than 3 clients" in w for w in found.warnings)
    total2 = 1.5 * (1 - (0.25 + 0.0625 + 0.0625))  # 1 - |mean|^2 of four one-label clients, two of them alike
    for d in found.divisions:
        assert d.delta**2 == pytest.approx(total2 * (d.groups - 1) / 3, rel=1e-5)
    with pytest.raises(ScenarioError, match="5 contradicts the 4 clients"):
        answer(N=5, H=file)


def test_clients_that_are_all_alike_have_nothing_to_regroup(tmp_path: Path) -> None:
    found = answer(N=4, H=csv_of([[5, 5, 0]] * 4, tmp_path / "counts.csv"))
    assert {(d.zeta, d.delta) for d in found.divisions} == {(0.0, 0.0)}
    with pytest.raises(ScenarioError, match="cannot be read"):
        answer(N=4, H=str(tmp_path / "none.csv"))


# ---------------------------------------------------------------- what is given stays


def test_who_takes_part_stays_and_limits_the_divisions() -> None:
    found = answer(N=100, H="both", S1=5, S2=4)
    assert [d.groups for d in found.divisions] == [5, 10, 20, 25]
    assert (found.scenario["S1"].value, found.scenario["S2"].value) == (5, 4)
    assert any("P = 1, K = 2, S1 = 5, S2 = 4 stay" in s for s in found.explanation)
    with pytest.raises(ScenarioError, match=r"room for S1 = 30 and S2 = 30"):
        answer(N=100, H="both", S1=30, S2=30)
    only_groups = answer(N=100, H="both", S1=20)  # everyone at G = 20 is another theorem's
    assert [d.groups for d in only_groups.divisions] == [25, 50, 100]


def test_clients_beside_groups_must_agree() -> None:
    plain = answer(G=20, M=5, H="both")
    for also in ({"G": 20, "M": 5}, {"G": 20}, {"M": 5}):
        assert answer(N=100, H="both", **also) == plain
    for wrong in ({"G": 20, "M": 6}, {"G": 7}, {"M": 200}):
        with pytest.raises(ScenarioError, match="N = G M") as refusal:
            answer(N=100, H="both", **wrong)
        assert "\n" not in str(refusal.value)


def test_flips_of_the_counts_searched_are_left_out() -> None:
    found = answer(N=60, H="both", o="time")
    assert not {flip.parameter for flip in found.flips} & {"G", "M"}
    assert "G, M" not in found.flips_searched
    assert "P, K" in found.flips_searched


def test_star_star_is_one_algorithm_in_every_division_and_the_answer_says_so() -> None:
    def said(**given: object) -> bool:
        found = answer(N=60, H="both", o="time", **given)
        assert {d.topology for d in found.divisions} >= {"star-star"}
        return any("one algorithm, however clients are grouped" in w for w in found.warnings)

    assert said(P=1)
    assert not said(P=3)


# ---------------------------------------------------------------- bad input, and the formats


def test_few_many_and_prime_clients() -> None:
    assert [d.groups for d in answer(N=1, H="both").divisions] == [1]
    prime = answer(N=97, H="both")
    assert [d.groups for d in prime.divisions] == [1, 97]
    assert any(w.startswith("97 is prime") and "96 or 98" in w for w in prime.warnings)
    huge = answer(N=720720, H="both", o="rounds")
    assert len(huge.divisions) == structure.MOST < len(divisors(720720)) == 240
    assert (huge.divisions[0].groups, huge.divisions[-1].groups) == (1, 720720)
    assert any("in 240 ways; 48 of them are searched" in w for w in huge.warnings)


def test_a_target_out_of_reach_or_met_already() -> None:
    with pytest.raises(NoAnswerError, match="is not reached"):
        answer(N=12, H="both", target=1e-9, R=10)
    met = answer(N=12, H="both", target=100)
    assert any("Any of 6 divisions" in s for s in met.explanation)


def test_the_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(*args: str) -> tuple[int, str, str]:
        return run("recommend", *args, capsys=capsys, monkeypatch=monkeypatch)

    code, out, err = plan("--clients", "36", "-H", "both", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    jsonschema.validate(document, Recommendation.model_json_schema())
    assert [d["groups"] for d in document["divisions"]] == [1, 2, 3, 4, 6, 9, 12, 18, 36]
    code, out, _ = plan("--G", "6", "--M", "6", "-H", "both", "--json")
    assert code == 0
    assert "divisions" not in json.loads(out)
    for bad in ("0", "-3", "2.5", "many", "99999999"):
        code, out, err = plan("--clients", bad)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "whole number from 1" in err
    code, out, err = plan("--clients", "100", "--G", "7")
    assert (code, out, err.count("\n")) == (2, "", 1)
