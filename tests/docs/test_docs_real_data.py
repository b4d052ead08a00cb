"""The tables of docs/real-data.md and its pages in docs/evidence against the curves and profiles there."""

from __future__ import annotations

import csv
import itertools
import math
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from planner.data import heterogeneity
from planner.data.race_curves import rounds_like
from planner.predict.predictors.piloted import between

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import real_record as record  # noqa: E402
import steps_record  # noqa: E402

PAGE = (ROOT / "docs" / "real-data.md").read_text(encoding="utf-8")
CHOICES, ROUNDS, STEPS, TIERS = (
    (ROOT / "docs" / "evidence" / f"real-{name}.md").read_text(encoding="utf-8")
    for name in ("first-choices", "rounds", "steps", "three-tiers")
)


@cache
def rows_of(name: str, role: str) -> list[dict[str, object]]:
    """What a contestant says of the settings of one role, which several tables take."""
    say, seeds = record.CONTESTANTS[name]
    curves = "measured_passes.csv" if role == "passes" else "measured_curves.csv"
    return list(record.judged(record.of_roles(record.ROOT / curves, (role,)), say, seeds))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("`spectrum`, profile", marks=pytest.mark.slow),  # in every run that of `kept5` is, below
        *("pilot of 5 rounds, fresh noise", "pilot of 19 rounds, fresh noise", "always ring-ring"),
    ],
)
def test_rows_of_the_table_are_what_the_curves_say(name: str) -> None:
    rows = rows_of(name, "kept")
    for quantity, metric in record.METRIC.items():
        told = record.summary([row for row in rows if row["quantity"] == quantity])
        assert f"| {name} | {metric} {told}" in CHOICES


NAMES = (
    *("`spectrum`, profile", "`spectrum`, kind of split alone", "pilot of 8 rounds, fresh noise"),
    *("`spectrum`, label counts", "pilot of 8 rounds by the same metric, fresh noise"),
    "`spectrum`, profile with fading",
)


@pytest.mark.parametrize(
    ("roles", "words", "names"),
    [
        (("kept5",), "`kept5`", (NAMES[0], NAMES[2])),  # in every run: what moves the others moves these
        *(
            pytest.param((role,), f"`{role}`", NAMES, marks=pytest.mark.slow)
            for role in ("kept2", "kept3", "kept4", "kept5", "long", "conv", "many", "passes")
        ),
        pytest.param(record.JUDGED, "all that judge", NAMES, marks=pytest.mark.slow),
    ],
)
def test_rows_of_the_later_settings_are_what_the_curves_say(
    roles: tuple[str, ...], words: str, names: tuple[str, ...]
) -> None:
    for name in names:
        rows = [row for role in roles for row in rows_of(name, role)]
        for quantity, metric in record.METRIC.items():
            told = record.summary([row for row in rows if row["quantity"] == quantity])
            assert f"| {name} | {metric}, {words} {told}" in CHOICES


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
        assert line.replace("| all |", f"| {words} |") in ROUNDS


@pytest.mark.slow
def test_other_constants_of_convolutional_networks_are_what_the_curves_say() -> None:
    curves = record.of_roles(record.ROOT / "measured_curves.csv", ("conv",))
    for name, (say, seeds) in record.OTHER_CONSTANTS.items():
        rows = list(record.judged(curves, say, seeds))
        for quantity, metric in record.METRIC.items():
            told = record.summary([row for row in rows if row["quantity"] == quantity])
            assert f"| {name} | {metric}, `conv` {told}" in CHOICES


@pytest.mark.parametrize("every", [24, pytest.param(1, marks=pytest.mark.slow)])
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


OF_DECAY = (("profile with fading and decay", True), ("the same without decay", False))


@pytest.mark.slow  # in every run the record of them, below
@pytest.mark.parametrize(("words", "roles"), [("`design`, `second`", ("design", "second")), ("`long`", ("long",))])
def test_rounds_to_a_given_loss_are_off_as_the_page_says(words: str, roles: tuple[str, ...]) -> None:
    """Rounds by hand from the curves, and of who was asked for a loss."""
    for told, decays in OF_DECAY:
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
        assert f"| {told} | {words} | {len(off)} | {low:.3g} | {median:.3g} | {high:.3g} |" in ROUNDS


def test_the_record_of_rounds_to_a_loss_is_on_the_page() -> None:
    names = ("profile with fading and decay", "the same without decay", "label counts", "kind of split alone")
    with record.SCALE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name, row in zip(names, (row for row in rows if row["until"] == "inf"), strict=True):
        numbers = " | ".join(row[key] for key in ("rows", "low", "median", "high"))
        assert f"| {name} | all that judge | {numbers} |" in PAGE
        assert f"| {name} | all that judge | {numbers} |" in ROUNDS
    parts = {"3": "up to 3 rounds predicted of Star-Star", "12": "over 3 and up to 12"}
    for row in (row for row in rows if row["told"] == "decay" and row["until"] in parts):
        numbers = " | ".join(row[key] for key in ("rows", "low", "median", "high"))
        assert f"| the same, {parts[row['until']]} | all that judge | {numbers} |" in ROUNDS


def _continued(values: dict[str, np.ndarray], rounds: int) -> float:
    """What Star-Star has after so many rounds, by curves of fewer that count as no better than they end."""
    last = len(values["star-star"]) - 1
    logs = {}
    for topology, one in values.items():
        best = np.minimum.accumulate(one)
        logs[topology] = np.log(np.maximum(best, one[-1]) if one[-1] < one[0] else best)

    def first(log: np.ndarray, level: float) -> float:  # crossing, in fractions of a round
        r = int(np.argmax(log <= level + 1e-12))
        return r - 1 + min(1.0, (log[r - 1] - level) / (log[r - 1] - log[r])) if r else 0.0

    of = logs["star-star"]
    ahead = {t: first(log, of[-1]) / first(of, of[-1]) for t, log in logs.items() if log[-1] <= of[-1] + 1e-12}
    ahead = {t: ratio for t, ratio in ahead.items() if 0 < ratio < 1}
    least = min(ahead, key=lambda t: ahead[t], default="star-star")
    furthest, level = last, of[-1]
    later = np.arange(last + 1, min(int(last * min(1 / ahead.get(least, 1.0), 100)), rounds) + 1)
    if later.size:
        each = [
            np.where(later * ratio <= last, np.interp(later * ratio, range(last + 1), logs[t]), np.nan)
            for t, ratio in ahead.items()
        ]
        furthest, level = later[-1], min(level, float(np.nanmean(each, axis=0).min()))
    fell = (logs[least][last // 2] - logs[least][-1]) / np.log(2)
    return float(np.exp(level - (fell if fell > 0 else 0.1) * np.log(rounds / furthest)))


def test_rounds_beyond_a_pilot_are_off_as_the_record_and_the_pages_say() -> None:
    """Star-Star's rounds, then those of quicker ones, slowed down; where the other noise seed is at that level.

    From the last of these on it is a straight line on logarithmic paper, with the slope of the quickest's second half.
    """
    said = " ".join((ROOT / "docs" / "pilot.md").read_text(encoding="utf-8").split())
    with record.BEYOND.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    each = [(row["metric"], int(row["raced"]), int(row["times"])) for row in rows]
    assert each == list(itertools.product(("loss", "accuracy"), (4, 8, 16), (1, 2, 4, 8)))
    for row, (metric, length, far) in zip(rows, each, strict=True):
        quantity, off = {"loss": "loss", "accuracy": "error"}[metric], list[float]()
        for one in record.of_roles(record.ROOT / "measured_curves.csv", (*record.JUDGED, "long")):
            stars = np.minimum.accumulate(one.best[quantity, "star-star"], axis=1)
            if one.rounds[-1] < 3 * length * far:
                continue
            for seed, other in enumerate(np.roll(stars, -1, 0)):
                level = _continued({t: one.best[quantity, t][seed][: length + 1] for t in one.topologies}, length * far)
                there = np.append(np.flatnonzero(other <= level), len(other))[0]
                took = np.inf
                if there < len(other):
                    before = max(there - 1, 1)
                    took = np.interp(-level, -other[[before, there]], one.rounds[[before, there]])
                off.append(took / (length * far) if took <= 3 * length * far else np.inf)
        low, median, high = (sorted(off)[math.ceil(share * len(off)) - 1] for share in (0.1, 0.5, 0.9))
        assert len(off) == int(row["rows"])
        assert [f"{n:.3g}" for n in (low, median, high)] == [row["low"], row["median"], row["high"]]
        cells = " | ".join(row.values()).replace("inf", "over 3")
        assert f"| both | {cells} |" in ROUNDS
        if length == 8 and far in (2, 4):
            assert f"{low:.2g}x to {'over 3' if high > 3 else f'{high:.2g}'}x" in said


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
        assert f"| {scheme} | {' | '.join(cells)} |" in STEPS


@pytest.mark.slow
def test_choices_of_steps_are_as_good_as_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    steps_record.print_choices()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 30 and all(line in STEPS for line in lines)
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
            assert f"\n| {before}{words} {record.summary(rows)}" in CHOICES


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
    assert f"| always ring-ring | loss | {total} | {right / total:.0%} " in CHOICES


def test_ratios_of_pilots_differ_between_two_seeds_as_the_page_says() -> None:
    """By whether settings are those that rules were found on, or later ones."""
    said, found = " ".join((ROOT / "docs/pilot.md").read_text().split()), {}
    for quantity, factor in (("loss", 1.16), ("error", 1.28)):
        off: dict[bool, list[float]] = {True: [], False: []}
        for one in record.of_roles(record.ROOT / "measured_curves.csv", record.ANSWERED):
            logs = []
            for seed in (0, 1):
                best = {t: np.minimum.accumulate(one.best[quantity, t][seed][:9]) for t in record.TOPOLOGIES}
                stars = np.maximum(best["star-star"], one.best[quantity, "star-star"][seed][8])
                logs.append([math.log(rounds_like(stars, best[t], 8)) for t in record.TOPOLOGIES])
            one_and_other = np.array(logs) - np.array(logs)[:, :1]
            off[one.told["role"] in record.JUDGED] += np.abs(np.diff(one_and_other, axis=0))[0, 1:].tolist()
        every = np.array(off[True] + off[False])
        assert math.exp(np.quantile(every, 0.8)) == pytest.approx(factor, abs=0.006)
        assert math.log(factor) == pytest.approx(1.2816 * between(record.METRIC[quantity], 1), rel=0.015)
        found[quantity] = [f"{np.mean(np.array(off[later]) <= math.log(factor)):.0%}" for later in (False, True)]
        assert f"{factor}x by {record.METRIC[quantity]}" in said and f"80 % of {len(every)} ratios" in said
    (a, b), (c, d) = (tuple(x.replace("%", " %") for x in found[quantity]) for quantity in found)
    assert f"{a} and {b} by loss, {c} and {d} by accuracy" in said


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


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[:2]), NAMES[2]])
def test_targets_far_away_are_what_the_curves_say(name: str) -> None:
    far = record.of_roles(record.ROOT / "measured_curves.csv", ("long",))
    rows = list(record.judged(far, *record.CONTESTANTS[name], [120]))
    for quantity, metric in record.METRIC.items():
        told = record.summary([row for row in rows if row["quantity"] == quantity])
        assert f"| {name} | {metric}, `long`, after 120 {told}" in CHOICES


def test_what_long_runs_had_after_thousands_of_rounds_is_what_the_curves_say() -> None:
    """Means over noise seeds by hand from the file, the least of each quantity in a row in bold, and who has it."""
    with (ROOT / "docs" / "evidence" / "measured_curves.csv").open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.DictReader(file) if row["2000"]]
    leaders: dict[int, list[str]] = {}
    runs = {("kept", "fashion"): 2, ("long", "fashion"): 3, ("long", "letter"): 3}
    for (run, noise), rounds in itertools.product(runs.items(), (20, 60, 200, 400, 2000)):
        means = {}
        for quantity, topology in itertools.product(record.METRIC, record.TOPOLOGIES):
            wanted = dict(zip(("role", "data", "quantity", "topology"), (*run, quantity, topology), strict=True))
            seeds = [float(row[str(rounds)]) for row in lines if wanted.items() <= row.items()]
            assert len(seeds) == noise
            means[quantity, topology] = sum(seeds) / noise
        best = {q: min((means[q, t], t) for t in record.TOPOLOGIES)[1] for q in record.METRIC}
        cells = []
        for t in record.TOPOLOGIES:
            loss, error = f"{means['loss', t]:.3f}", f"{100 * means['error', t]:.1f} %"
            cell = f"{bold(loss, best['loss'] == t)} / {bold(error, best['error'] == t)}"
            cells.append(cell.replace("** / **", " / "))
        assert f"| {rounds:,} | {' | '.join(cells)} |" in ROUNDS
        leaders.setdefault(rounds, []).append(" / ".join(dict.fromkeys(best[q].title() for q in record.METRIC)))
    for rounds, cells in leaders.items():
        assert f"| {rounds:,} | {' | '.join(cells)} |" in PAGE


def bold(words: str, is_so: bool) -> str:
    return f"**{words}**" if is_so else words


def cells_of(page: str) -> dict[tuple[str, str], list[str]]:
    """Cells of a page's tables of first choices, by contestant and metric with its settings."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")]
    return {(row[0], row[1]): row[2:] for row in rows if len(row) == 8}


def test_the_summary_of_first_choices_is_of_the_long_tables() -> None:
    told = ["profile with fading", "profile", "label counts", "kind of split alone"]
    settings = {"`kept` to `kept4`": "all that judge"} | {
        name: name for name in ("`kept5`", "`long`", "`conv`", "`many`", "`passes`", "three tiers")
    }
    for words, name in settings.items():
        deep = name == "three tiers"
        where, page = ("", TIERS) if deep else (f", {name}", CHOICES)
        pilot = "pilot of 8 rounds, fresh noise" if deep else "pilot of 8 rounds by the same metric, fresh noise"
        who = [*(f"`spectrum`, {one}" for one in told), pilot, "always ring-ring" + "-ring" * deep]
        found = cells_of(page)
        pairs = [[found[one, f"{metric}{where}"] for metric in ("loss", "accuracy")] for one in who]
        shown = " | ".join(" / ".join(cells[1].split()[0] for cells in pair) for pair in pairs)
        assert f"| {words} | {pairs[0][0][0]}, {pairs[3][0][0]}, {pairs[4][0][0]} | {shown} |" in PAGE


def test_what_a_hurried_reader_is_told_is_in_the_long_tables() -> None:
    plain, found, deep = " ".join(PAGE.split()), cells_of(CHOICES), cells_of(TIERS)

    def right(who: str, metric: str, of: dict[tuple[str, str], list[str]] = found) -> str:
        return of[who, metric][1].split("%")[0] + " %"

    def rows(who: str, metric: str) -> str:
        return found[who, metric][0]

    kept, fading, kind = "loss, all that judge", "`spectrum`, profile with fading", "`spectrum`, kind of split alone"
    also, pilot = kept.replace("loss", "accuracy"), "pilot of 8 rounds by the same metric, fresh noise"
    raced, many, far = "pilot of {} rounds, fresh noise".format, "loss, `many`", ", `long`, after 120"
    told = [
        f"topology in {right(pilot, kept)} of {rows(pilot, kept)} rows by loss, and, raced by accuracy, in "
        f"{right(pilot, also)} of {rows(pilot, also)} rows by accuracy",
        f"did so in {right(fading, kept)} of {rows(fading, kept)} rows by loss and by accuracy; by loss in "
        f"{right(fading, 'loss, `kept4`')} of {rows(fading, 'loss, `kept4`')} (`kept4`) and "
        f"{right(fading, 'loss, `kept5`')} of {rows(fading, 'loss, `kept5`')} (`kept5`)",
        f"it is right in {right(kind, kept)} of {rows(kind, kept)} rows by loss and {right(kind, also)} by accuracy; "
        f"the best habit, always Ring-Ring, in {right('always ring-ring', kept)} and "
        f"{right('always ring-ring', also)} of {rows('always ring-ring', kept)}",
        f"off by a factor {found[fading, kept][4][1:]} in the median by loss ({rows(fading, kept)} rows)",
        f"after 120 rounds {right(fading, f'loss{far}')} of {rows(fading, f'loss{far}')} rows are right by loss, and "
        f"{right(fading, f'accuracy{far}')} by accuracy",
        f"in {rows(fading, many)} rows with 20 to 50, a profile with fading is right in {right(fading, many)}, a pilot "
        f"of 8 rounds in {right(raced(8), many)} and one of 19 rounds in {right(raced(19), many)}",
        f"named in {right(fading, 'loss', deep)} of {deep[fading, 'loss'][0]} rows by loss, and in "
        f"{right(fading, 'accuracy', deep)} by accuracy",
    ]
    assert right(fading, kept) == right(fading, also)
    assert [one for one in told if one not in plain] == []
    with record.SCALE.open(encoding="utf-8", newline="") as file:
        (decay,) = (row for row in csv.DictReader(file) if (row["told"], row["until"]) == ("decay", "inf"))
    low, high = f"{float(decay['low']):.1f}", math.floor(10 * float(decay["high"])) / 10
    assert f"took {low} to {high} times those predicted in four of five cases ({decay['rows']} rows)" in plain


def test_rows_by_kind_of_split_are_those_of_the_record() -> None:
    with (ROOT / "planner" / "data" / "real_record.csv").open(encoding="utf-8", newline="") as file:
        rows = {(r["metric"], r["told"], r["scheme"]): r for r in csv.DictReader(file)}
    kinds = {"even": "iid", "clients differ": "intra", "groups differ": "inter", "both": "both"}
    for words, scheme in kinds.items():
        cells = []
        for told in ("fading", "profile", "kind", "pilot"):
            loss, accuracy = (rows[metric, told, scheme] for metric in ("loss", "accuracy"))
            cells.append(f"{loss['right']} / {accuracy['right']} of {loss['rows']}")
        assert f"| {words} | {' | '.join(cells)} |" in PAGE
    near = [f"{int(r['rates_near']) / int(r['rates']):.0%}" for told in ("pilot", "fading", "profile", "kind")
            for r in [rows["loss", told, "all"]]]  # fmt: skip
    said = "{} of the rates of pilots are within a factor 2 of the best, {} with fading, {} with a profile, and {} with"
    assert said.format(*(share.replace("%", " %") for share in near)) in " ".join(PAGE.split())


def test_what_stars_saved_is_that_of_the_record_and_choices_of_the_long_table() -> None:
    with (ROOT / "planner" / "data" / "steps_record.csv").open(encoding="utf-8", newline="") as file:
        stars = [r for r in csv.DictReader(file) if (r["told"], r["topology"]) == ("profile", "star-star")]
    found = {(r["P"], r["K"], r["scheme"]): f"{r['measured']} of {r['predicted']}" for r in stars}
    kinds = {"even": "iid", "clients differ": "intra", "groups differ": "inter", "both": "both"}
    for words, scheme in kinds.items():
        cells = [found[plan, steps, scheme] for plan, steps in (("1", "12"), ("1", "48"), ("4", "2"), ("12", "2"))]
        assert f"| {words} | {' | '.join(cells)} |" in PAGE
    every = [line.strip("| ").split(" | ") for line in STEPS.splitlines() if " | all | 160 | " in line]
    assert len(every) == 6
    for who, objective, _, _, right, high, mean in every:
        assert f"| {who} | {objective} | {right} | {high} | {mean} |" in PAGE


def test_settings_of_each_role_are_as_many_as_the_page_says() -> None:
    with (ROOT / "docs" / "evidence" / "measured_curves.csv").open(encoding="utf-8", newline="") as file:
        settings = {tuple(row[name] for name in record.SETTING): row for row in csv.DictReader(file)}
    for role in record.ROLES:
        assert f"| `{role}` | {sum(key[0] == role for key in settings)} |" in PAGE
    fleets = {key[5:7] for key in settings}
    sizes = [int(groups) * int(clients) for groups, clients in fleets]
    assert f"{len(fleets)}, of {min(sizes)} to {max(sizes)} clients" in PAGE and f"{len(settings)} of 201" in PAGE


def test_orders_of_both_kinds_are_what_the_curves_say() -> None:
    """Rounds to the loss that Star-Star has after 46, of the perceptron on Fashion-MNIST."""
    names = {"inter": "groups differ", "both": "both differ", "intra": "clients differ"}
    every = record.of_roles(record.ROOT / "measured_curves.csv", ("design", "second"))
    for fleet, (scheme, words) in itertools.product((("10", "10"), ("4", "10")), names.items()):
        wanted = {"data": "fashion", "hidden": "48", "scheme": scheme, "G": fleet[0], "M": fleet[1]}
        plans = {"P": "1", "K": "2"} if fleet == ("10", "10") else {"P": "2", "K": "3"}
        role = {"role": "design" if fleet == ("10", "10") else "second"}
        mine = {one.told["order"]: one for one in every if (wanted | plans | role).items() <= one.told.items()}
        rounds = {order: one.rounds_to("loss", 46) for order, one in mine.items()}
        shown = [[f"{n:.{0 if n >= 10 else 1}f}" for n in (rounds["fixed"][t], rounds["random"][t])]
                 for t in record.TOPOLOGIES[1:]]  # fmt: skip
        line = f"| {words}, {' x '.join(fleet)} | {' | '.join(' / '.join(pair) for pair in shown)} |"
        assert line in ROUNDS


def test_defaults_are_medians_over_the_design_settings() -> None:
    page = (ROOT / "docs" / "evidence" / "real-tried.md").read_text(encoding="utf-8")
    of = record.profiles(record.ROOT / "measured_profiles.csv")
    curves = record.of_roles(record.ROOT / "measured_curves.csv", ("design",))
    design = {tuple(one.told[name] for name in record.PROBLEM): one.told["scheme"] for one in curves}
    assert len(design) == 24
    for words, scheme in {"even": "iid", "clients differ": "intra", "groups differ": "inter", "both": "both"}.items():
        some = [of[key] for key, split in design.items() if split == scheme]
        zeta, delta = (
            np.median([one[f"{name} mean"] / one["sigma mean"] for one in some]) for name in ("zeta", "delta")
        )
        told = [float(n) for n in heterogeneity.PRESETS[scheme]]
        assert f"| {words} | {zeta:.3f} | {delta:.3f} | `{scheme}`: " in page
        assert told == pytest.approx([zeta, delta], rel=0.05)
    sigma, curvature, loss = (
        np.median([of[key][name] for key in design]) for name in ("sigma mean", "curvature", "loss")
    )
    plain = " ".join(page.split())
    assert (
        f"is {sigma:.3f}, the curvature of the mean loss {curvature:.3f} and the loss at the start {loss:.3f}" in plain
    )
