"""The tables of docs/real-data.md against the curves and profiles in docs/evidence."""

from __future__ import annotations

import csv
import itertools
import math
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import real_record as record  # noqa: E402
import steps_record  # noqa: E402

PAGE = (ROOT / "docs" / "real-data.md").read_text(encoding="utf-8")
QUICK = ("kept5",)  # roles whose tables are looked at in every run; what moves predictions moves these


@cache
def rows_of(name: str, role: str) -> list[dict[str, object]]:
    """What a contestant says of the settings of one role, which several tables take."""
    say, seeds = record.CONTESTANTS[name]
    curves = "measured_passes.csv" if role == "passes" else "measured_curves.csv"
    return list(record.judged(record.of_roles(record.ROOT / curves, (role,)), say, seeds))


@pytest.mark.parametrize(
    "name",
    ["`spectrum`, profile", "pilot of 5 rounds, fresh noise", "pilot of 19 rounds, fresh noise", "always ring-ring"],
)
def test_rows_of_the_table_are_what_the_curves_say(name: str) -> None:
    rows = rows_of(name, "kept")
    for quantity, metric in record.METRIC.items():
        told = record.summary([row for row in rows if row["quantity"] == quantity])
        assert f"| {name} | {metric} {told}" in PAGE


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        *(
            pytest.param((role,), f"`{role}`", marks=() if role in QUICK else pytest.mark.slow)
            for role in ("kept2", "kept3", "kept4", "kept5", "long", "conv", "passes")
        ),
        pytest.param(record.JUDGED, "all that judge", marks=pytest.mark.slow),
    ],
)
def test_rows_of_the_later_settings_are_what_the_curves_say(roles: tuple[str, ...], words: str) -> None:
    names = ["`spectrum`, profile", "`spectrum`, kind of split alone", "pilot of 8 rounds, fresh noise"]
    names += ["pilot of 8 rounds by the same metric, fresh noise"] * (roles == record.JUDGED)
    for name in names + ["`spectrum`, profile with fading"] * (roles not in (("kept2",), ("kept3",))):
        rows = [row for role in roles for row in rows_of(name, role)]
        for quantity, metric in record.METRIC.items():
            told = record.summary([row for row in rows if row["quantity"] == quantity])
            assert f"| {name} | {metric}, {words} {told}" in PAGE


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        # what the powers were chosen on is in test_record_on_real_data
        pytest.param(record.JUDGED, "`kept` to `kept4`", marks=pytest.mark.slow),
        *(pytest.param((role,), f"`{role}`", marks=pytest.mark.slow) for role in ("long", "kept5")),
        (("conv",), "`conv`"),
    ],
)
def test_gains_over_stars_are_what_the_curves_say(
    roles: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record.print_gains(record.of_roles(record.ROOT / "measured_curves.csv", roles))
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| all |")]
    assert len(told) == len(record.METRIC)
    for line in told:
        assert line.replace("| all |", f"| {words} |") in PAGE


@pytest.mark.slow
def test_other_constants_of_convolutional_networks_are_what_the_curves_say() -> None:
    curves = record.of_roles(record.ROOT / "measured_curves.csv", ("conv",))
    for name, (say, seeds) in record.OTHER_CONSTANTS.items():
        rows = list(record.judged(curves, say, seeds))
        for quantity, metric in record.METRIC.items():
            told = record.summary([row for row in rows if row["quantity"] == quantity])
            assert f"| {name} | {metric}, `conv` {told}" in PAGE


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fades", [False, True])
def test_errors_that_answers_draw_are_of_the_curves(fades: bool, every: int) -> None:
    """Rounds of the record by hand from the curves, and its errors from them and what is predicted."""
    for quantity, metric in record.METRIC.items():
        name = f"record_{metric}_images_fading.csv" if fades else f"record_{metric}_images.csv"
        with (ROOT / "planner" / "data" / name).open(encoding="utf-8", newline="") as file:
            told = {(row["scenario"], row["reference"]): row for row in csv.DictReader(file)}
        known = [
            (one, constants)
            for one in record.of_roles(record.ROOT / "measured_curves.csv", record.ANSWERED)
            if (constants := record.profile_of(one, fades=fades)) is not None
        ]
        assert len(known) * len(record.TARGETS) == len(told) == 408
        for one, constants in known[::every]:
            assert ("problem.fading" in constants) == fades
            for after in record.TARGETS:
                row = told["-".join(one.told[name] for name in record.SETTING[1:]), str(after)]
                rounds = one.rounds_to(quantity, after)
                said = record.asked(one, after, metric, "spectrum", constants)
                goal = said.goal()
                predicted = {t: float(said.predictor.rounds_to(said, t, goal, said.values)) for t in rounds}
                for t, n in rounds.items():
                    assert float(row[f"rounds_{t}"]) == pytest.approx(n, rel=1e-3)
                    off = math.log(n / predicted[t]) - math.log(rounds["star-star"] / predicted["star-star"])
                    assert float(row[f"error_spectrum_{t}"]) == pytest.approx(off, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "roles"),
    [
        pytest.param("`design`, `second`", ("design", "second"), marks=pytest.mark.slow),
        ("`long`", ("long",)),
    ],
)
def test_rounds_to_a_given_loss_are_off_as_the_page_says(words: str, roles: tuple[str, ...]) -> None:
    """Rounds by hand from the curves, and of who was asked for a loss."""
    for told, decays in (("profile with fading and decay", True), ("the same without decay", False)):
        off = []
        for one in record.of_roles(record.ROOT / "measured_curves.csv", roles):
            constants = record.profile_of(one, fades=True, decays=decays)
            if constants is None:  # networks with convolutions
                continue
            assert ("problem.decay" in constants) == decays
            for after in (6, 18, 46):
                stars = one.best["loss", "star-star"].mean(0)
                loss = float(np.interp(after, one.rounds, np.minimum.accumulate(stars)))
                said = record.asked(one, 200, "loss", "spectrum", {**constants, "problem.target": str(loss)})
                for topology in record.TOPOLOGIES:
                    reached = np.minimum.accumulate(one.best["loss", topology].mean(0))
                    n = record.crossing(one.rounds, reached, loss)
                    if 1 < n < one.rounds[-1]:
                        predicted = said.predictor.rounds_to(said, topology, loss, said.values)
                        off.append(n / max(1.0, float(predicted)))
        low, median, high = np.quantile(off, (0.1, 0.5, 0.9))
        assert f"| {told} | {words} | {len(off)} | {low:.3g} | {median:.3g} | {high:.3g} |" in PAGE


def test_the_record_of_rounds_to_a_loss_is_on_the_page() -> None:
    names = ("profile with fading and decay", "the same without decay", "label counts", "kind of split alone")
    with record.SCALE.open(encoding="utf-8", newline="") as file:
        for name, row in zip(names, csv.DictReader(file), strict=True):
            numbers = " | ".join(row[key] for key in ("rows", "low", "median", "high"))
            assert f"| {name} | all that judge | {numbers} |" in PAGE


def test_what_more_local_steps_and_group_rounds_saved_is_what_the_curves_say() -> None:
    """Rounds with 2 local steps over those with 12 or 48, and over those with 4 or 12 group rounds of 2, by hand."""
    curves: dict[tuple[str, ...], list[list[float]]] = {}
    rounds: dict[tuple[str, str], np.ndarray] = {}
    for name in ("measured_steps.csv", "measured_passes.csv"):
        with (ROOT / "docs" / "evidence" / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["quantity"] == "loss":
                    at, plan = [n for n in row if n.isdigit() and row[n]], (row["P"], row["K"])
                    rounds[plan] = np.array(at, float)
                    key = (row["scheme"], row["data"], row["seed"], row["topology"], *plan)
                    curves.setdefault(key, []).append([float(row[n]) for n in at])
    least = {key: np.minimum.accumulate(np.mean(one, 0)) for key, one in curves.items()}
    first, more = ("1", "2"), (("1", "12"), ("1", "48"), ("4", "2"), ("12", "2"))
    ends = {first: 80, ("1", "4"): 80, **dict(zip(more, (80, 36, 80, 60), strict=True))}
    assert {plan: at[-1] for plan, at in rounds.items()} == ends
    with (ROOT / "planner" / "data" / "steps_record.csv").open(encoding="utf-8", newline="") as file:
        told = {
            (row["scheme"], row["topology"], row["P"], row["K"]): row
            for row in csv.DictReader(file)
            if row["told"] == "profile"
        }
    assert [key[2:] for key in told] == [plan for plan in more for _ in range(15 if plan == ("12", "2") else 16)]
    stars: dict[tuple[str, str], list[float]] = {plan: [] for plan in more}
    for (scheme, topology, *plan), row in told.items():
        gains = []
        for split, data, seed, other, *few in least:
            if (split, other, *few) != (scheme, topology, *first):
                continue
            for after in (18, 46):
                loss = np.interp(after, rounds[first], least[scheme, data, seed, "star-star", *first])
                of = {p: least[scheme, data, seed, topology, *p] for p in (first, tuple(plan))}
                few_, many = (record.crossing(rounds[p], curve, loss) for p, curve in of.items())
                if few_ < 80 and 1 < many < rounds[tuple(plan)][-1]:
                    gains.append(few_ / many)
        assert len(gains) == int(row["rows"]) and float(row["measured"]) == pytest.approx(np.median(gains), rel=5e-3)
        stars[tuple(plan)] += gains if topology == "star-star" else []
        off = math.log(np.median(gains) / float(row["predicted"])) / math.log(math.prod(map(int, plan)) / 2)
        assert float(row["low"]) - 0.05 < off < float(row["high"]) + 0.05
    assert {len(gains) for gains in stars.values()} == {32}  # of all sixteen problems
    assert 1 < min(stars["1", "12"]) < 1.1 and 3.9 < max(stars["1", "12"]) < 4
    for scheme, plan in itertools.product(("iid", "intra", "inter", "both"), more):
        mine = [told.get((scheme, t, *plan)) for t in ("star-star", "star-ring", "ring-star", "ring-ring")]
        cells = [f"{row['measured']} of {row['predicted']}" if row else "-" for row in mine]
        assert f"| {scheme} | {' | '.join(cells)} |" in PAGE


@pytest.mark.slow
def test_choices_of_steps_are_as_good_as_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    steps_record.print_choices()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 30 and all(line in PAGE for line in lines)
    means = {tuple(line.split(" | ")[:3]): int(line.split(" | ")[6].strip(" |%")) / 100 for line in lines}
    for who, time, traffic in (("topology, K = 2 and P = 1", 2.9, 4.8), ("topology, K and P", 1.15, 1.5)):
        for objective, ratio in (("time", time), ("traffic", traffic)):
            assert means[f"| {who}", objective, "all"] == pytest.approx(ratio - 1, abs=0.05)


@pytest.mark.slow
def test_rows_by_whether_data_can_be_fitted_are_what_the_curves_say() -> None:
    """What is fitted by hand from the file: the least mean training loss of two noise seeds up to round 98."""
    with (ROOT / "docs" / "evidence" / "measured_curves.csv").open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.DictReader(file) if row["quantity"] == "loss"]
    at = [name for name in lines[0] if name.isdigit() and int(name) <= 98]
    seen: dict[tuple[str, ...], dict[str, list[list[float]]]] = {}
    for row in lines:
        key = tuple(row[name] for name in record.SETTING)
        seen.setdefault(key, {}).setdefault(row["topology"], []).append([float(row[n]) for n in at if row[n]])
    fitted = {key for key, of in seen.items() if min(np.mean(curves, 0).min() for curves in of.values()) < 0.05}
    for name, before, roles in (
        ("`spectrum`, profile", "", record.ROLES[:5]),
        ("`spectrum`, profile with fading", "the same with fading: ", record.ROLES[:5]),
        ("`spectrum`, profile", "", ("kept4",)),
        ("`spectrum`, profile with fading", "with fading: ", ("kept4",)),
    ):
        parts: dict[str, list[dict[str, object]]] = {}
        for row in (row for role in roles for row in rows_of(name, role)):
            if row["quantity"] == "loss":
                goes = "goes to 0" if tuple(row[name] for name in record.SETTING) in fitted else "stays above 0"
                groups = "differ" if row["scheme"] in ("inter", "nested") else "alike"
                parts.setdefault(f"loss {goes}, groups {groups}", []).append(row)
        assert len(parts) == 4
        for words, rows in parts.items():
            assert f"  | {before}{words} {record.summary(rows)}" in PAGE


def test_pilots_and_habits_counted_without_the_script() -> None:
    """By hand from the file: how often Ring-Ring needs at most 2 % more rounds by loss than the best."""
    with (ROOT / "docs" / "evidence" / "measured_curves.csv").open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.DictReader(file) if row["role"] == "kept" and row["quantity"] == "loss"]
    settings: dict[tuple[str, ...], dict[str, list[list[float]]]] = {}
    for row in lines:
        curve = [float(v) for k, v in row.items() if k.isdigit() and v]
        key = tuple(row[name] for name in record.SETTING)
        settings.setdefault(key, {}).setdefault(row["topology"], []).append(curve)
    at = [float(k) for k in lines[0] if k.isdigit()]
    right = total = 0
    for curves in settings.values():
        best = {t: np.minimum.accumulate(np.mean(c, 0)) for t, c in curves.items()}
        here = at[: len(best["star-star"])]
        for after in (6, 18, 46):
            if after > here[-1]:
                continue
            target = best["star-star"][here.index(after)]
            rounds = {}
            for t, curve in best.items():
                i = next((i for i in range(1, len(here)) if curve[i] <= target), None)
                if i is None:
                    rounds[t] = here[-1]
                elif i == 1:
                    rounds[t] = 1.0
                else:
                    step = (curve[i - 1] - target) / (curve[i - 1] - curve[i]) * (here[i] - here[i - 1])
                    rounds[t] = here[i - 1] + step
            total += 1
            right += rounds["ring-ring"] <= 1.02 * min(rounds.values())
    assert f"| always ring-ring | loss | {total} | {right / total:.0%} " in PAGE


def test_where_the_kind_alone_misses_is_what_the_record_says() -> None:
    with (ROOT / "planner" / "data" / "real_record.csv").open(encoding="utf-8", newline="") as file:
        rows = {(r["told"], r["scheme"]): r for r in csv.DictReader(file) if r["metric"] == "loss"}
    every, groups = (rows["kind", scheme] for scheme in ("all", "inter"))
    others = [int(every[name]) - int(groups[name]) for name in ("right", "rows")]
    plain = " ".join(PAGE.split())
    assert f"right in {groups['right']} of {groups['rows']} rows there" in plain
    assert "in {} of {} elsewhere".format(*others) in plain
    faded = rows["fading", "inter"]
    assert f"is right in {faded['right']} of these {faded['rows']} (12 %)" in plain


def test_targets_far_away_are_what_the_curves_say() -> None:
    far = record.of_roles(record.ROOT / "measured_curves.csv", ("long",))
    for name in ("`spectrum`, profile", "`spectrum`, kind of split alone", "pilot of 8 rounds, fresh noise"):
        rows = list(record.judged(far, *record.CONTESTANTS[name], [120]))
        for quantity, metric in record.METRIC.items():
            told = record.summary([row for row in rows if row["quantity"] == quantity])
            assert f"| {name} | {metric}, `long`, after 120 {told}" in PAGE


def test_what_long_runs_had_after_thousands_of_rounds_is_what_the_curves_say() -> None:
    """Means over three noise seeds by hand from the file, the least of each quantity in a row in bold."""
    with (ROOT / "docs" / "evidence" / "measured_curves.csv").open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.DictReader(file) if row["role"] == "long" and row["2000"]]
    for data, rounds in itertools.product(("fashion", "letter"), (20, 60, 200, 400, 2000)):
        means = {}
        for quantity, topology in itertools.product(record.METRIC, record.TOPOLOGIES):
            wanted = {"data": data, "quantity": quantity, "topology": topology}
            seeds = [float(row[str(rounds)]) for row in lines if wanted.items() <= row.items()]
            assert len(seeds) == 3
            means[quantity, topology] = sum(seeds) / 3
        best = {q: min((means[q, t], t) for t in record.TOPOLOGIES)[1] for q in record.METRIC}
        cells = []
        for t in record.TOPOLOGIES:
            loss, error = f"{means['loss', t]:.3f}", f"{100 * means['error', t]:.1f} %"
            cell = f"{bold(loss, best['loss'] == t)} / {bold(error, best['error'] == t)}"
            cells.append(cell.replace("** / **", " / "))
        assert f"| {rounds:,} | {' | '.join(cells)} |" in PAGE


def bold(words: str, is_so: bool) -> str:
    return f"**{words}**" if is_so else words
