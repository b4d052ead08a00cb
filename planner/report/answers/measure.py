"""What ``hfl-plan measure`` answers: the deviation of every tier of a file of label counts, and what makes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from hflbounds.topology import tier_symbols
from planner.data import label_shift, skew
from planner.data.dirichlet import concentrations
from planner.data.heterogeneity import DIFFER, PROBLEM, one_label
from planner.data.label_counts import LabelCounts, read_counts, read_gram
from planner.data.label_shift import Counts, Interval, Measured, Weighting
from planner.data.profile import from_counts
from planner.errors import ScenarioError
from planner.io import frames, text
from planner.io.answers import Caution, NextStep, Quantity, Told, Verdict
from planner.io.parts import Part, field, finite
from planner.io.progress import progress
from planner.io.wording import counted, percent, several, shortened, two
from planner.report.document import Cell, Column, Document, Table
from planner.report.page import told

SHOWN = 5  # clients and groups that are named in data
UNUSUAL = 2.0  # times an equal share of a deviation: from there on one is named on a page
SKEW = (
    "Mean distance of label shares from those of the parent: 0 for equal shares, 1 without a common label. "
    "Label counts as they stand; no bound takes these distances."
)
CONCENTRATION_CELLS = 250_000  # counts that concentrations are fitted to


class Deviation(Part):
    """How much the children of the nodes of a tier differ."""

    id: str = field("symbol of the deviation")
    tier: str
    squared: Quantity
    without_correction: float = field("for what counting alone makes of equal clients")
    share: float | None = field("of the squares of all tiers", default=None)
    hellinger: float | None = field("mean Hellinger distance of label shares from those of the parent", default=None)
    jensen_shannon: float | None = field("mean Jensen-Shannon distance, of base 2, from them", default=None)


class Measurement(Told):
    """What ``hfl-plan measure`` answers."""

    schema: Literal["hfl-plan/measure/2"] = "hfl-plan/measure/2"
    rows: tuple[Deviation, ...]
    measure: dict[str, Any] = field("fleet, unit, scale, ratio, concentrations and the largest parts")


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to measure."""

    gram: Path | None = None  # file of inner products of class gradients
    scale: str | None = None  # length of a class gradient, as written
    weighting: str | None = None  # one of `label_shift.WEIGHTINGS`; None for that of `recommend --data`
    counts_are: str = "sample"  # one of `label_shift.COUNTS`
    groups_are: str | None = None  # ``given`` or ``chosen`` by the counts; None for what they look like
    skip_empty: bool = False  # whether to leave out clients without samples
    seed: int = 0  # of the draws

    def checked(self) -> tuple[Weighting | None, Counts, float | None]:
        """The weighting, what the counts are, and the length of a class gradient."""
        if self.weighting is not None:
            text.one_of(self.weighting, label_shift.WEIGHTINGS, "--weighting")
        text.one_of(self.counts_are, label_shift.COUNTS, "--counts-are")
        if self.groups_are is not None:
            text.one_of(self.groups_are, ("given", "chosen"), "--groups-are")
        if self.gram is not None and self.scale is not None:
            raise ScenarioError(
                "--scale: --gram says the lengths of class gradients already. Give one of the two.", code="E002"
            )
        length = None if self.scale is None else text.number(self.scale, "--scale", least=1e-50, most=1e50)
        return cast(Weighting | None, self.weighting), cast(Counts, self.counts_are), length


def measured(path: Path, wanted: Wanted, kept: Path | None = None) -> tuple[Measurement, str]:
    """Find the deviations of the groups of a file, with intervals, and what makes them; and the profile of the file.

    ``kept`` is where the profile is going to be written, if anywhere.
    """
    given, counts_are, length = wanted.checked()
    progress(f"reading {path.name[:60]}")
    table = read_counts(path, skip_empty=wanted.skip_empty)
    weighting = given or label_shift.usual(table)
    if len(table.clients) < 2:
        raise ScenarioError(f"{path}: there is one client, and nothing to tell it from. Add the others.")
    if wanted.groups_are == "chosen" and len(table.tiers) != 2:
        raise ScenarioError(
            "--groups-are: `hfl-plan group` chooses groups of one tier, and these are nested. Leave it out.",
            code="E005",
        )
    gram = None if wanted.gram is None else read_gram(wanted.gram, table.labels)
    chosen = None if wanted.groups_are is None else wanted.groups_are == "chosen"
    progress(f"drawing the counts of {len(table.clients):,} clients again")
    found = label_shift.measure(
        table, gram=gram, weighting=weighting, counts=counts_are, chosen=chosen, seed=wanted.seed
    )
    progress("fitting concentrations")
    fit, fitted = _concentrations(table, wanted.seed)
    absolute, sizes = gram is not None, table.sizes
    profile = from_counts(table, found, fit, weighting, absolute, length).text()
    data = {
        "file": str(path),
        "groups": len(sizes),
        "clients": len(table.clients),
        "clients_per_group": {"mean": float(sizes.mean()), "least": int(sizes.min()), "most": int(sizes.max())},
        "labels": int((table.counts > 0).any(axis=0).sum()),
        "samples": int(table.counts.sum()),
        "weighting": weighting,
        "counts_are": counts_are,
        "level": label_shift.LEVEL,
        "draws": found.draws,
        "groups_chosen_by_counts": found.chosen,
        **_deviations(table, found, absolute, length),
        "concentrations": {
            name: None if c is None else {**_plain(c), "unbounded": c.value == math.inf}
            for name, c in zip(("intra", "inter"), fit, strict=True)
        },
        **_dominant(table, found),
        "skew": [asdict(one) for one in skew.skews(table, weighting)],
    }
    cautions = (*table.warnings, *_cautions(table, found, weighting, counts_are, fitted, known=bool(chosen)))
    return _answer(data, cautions, _recommended(path, data, kept, as_chosen=bool(chosen))), profile


def _concentrations(table: LabelCounts, seed: int) -> tuple[tuple[Interval | None, ...], int]:
    """Concentrations, of random groups and clients where there are very many counts; and of how many clients."""
    inside = np.ones(len(table.clients), dtype=bool)
    if table.counts.size > CONCENTRATION_CELLS:
        rng, groups = np.random.default_rng(seed), len(table.groups)
        share = max(CONCENTRATION_CELLS / table.counts.size, 2 / groups)
        chosen = rng.permutation(groups)[: math.ceil(share * groups)]
        inside = np.isin(table.group_of, chosen)
        among = np.flatnonzero(inside)
        inside[rng.permutation(among)[max(CONCENTRATION_CELLS // table.counts.shape[1], 2) :]] = False
    number = np.unique(table.group_of[inside], return_inverse=True)[1]
    return concentrations(table.counts[inside], number), int(inside.sum())


def _cautions(
    table: LabelCounts, found: Measured, weighting: str, counts_are: str, fitted: int, *, known: bool
) -> Iterator[str]:
    sizes = table.sizes
    if sizes.min() != sizes.max():
        meaning = {
            "groups": "every group counts the same here, as in the theorems, so clients of small groups count more",
            "clients": "every client counts the same here, unlike in the theorems",
            "samples": "every sample counts the same here, unlike in the theorems",
        }[weighting]
        yield (
            f"Groups have {sizes.min()} to {sizes.max()} clients, and the theorems assume one size: {meaning}. "
            f"Compare --weighting {'clients, as `recommend` has it' if weighting == 'groups' else 'groups'}."
        )
    if counts_are == "sample":
        if ones := int((table.counts.sum(axis=1) == 1).sum()):
            yield (
                f"{ones} clients have one sample, which tells nothing of its own noise: zeta^2 is too large by an "
                "unknown part."
            )
        for name, tier in (("zeta", -1), ("delta", 0)):
            if found.tiers[tier].value == 0 and found.plain.squares[tier] > 1e-12:
                yield f"The counts show no {name} beyond what counting alone makes of equal ones: it is put to 0."
    if found.chosen:
        way = "" if known else " Use --groups-are given to take them as they are."
        yield (
            f"The groups {'were' if known else 'look'} chosen by these very counts, noise included. So delta^2 is what "
            f"to expect of the clients themselves.{way}"
        )
    if len(table.groups) == 1:
        yield "There is one group, so delta is 0."
    if sizes.max() == 1:
        yield "Every group has one client, so zeta is 0."
    if fitted < len(table.clients):
        yield f"Concentrations are fitted to {fitted} clients, drawn by group."


def _deviations(table: LabelCounts, found: Measured, absolute: bool, length: float | None) -> dict[str, Any]:
    known, factor = absolute or length is not None, 1.0 if length is None else length**2
    symbols = [tier.deviation for tier in tier_symbols(len(found.tiers))]
    squares = [
        {**_plain(tier), "without_correction": plain}
        for tier, plain in zip(found.tiers, found.plain.squares, strict=True)
    ]
    scaled = [math.sqrt((tier.value or 0.0) * factor) if known else None for tier in found.tiers]
    two = len(squares) == 2
    span = None if found.lengths is None else dict(zip(("low", "high"), found.lengths, strict=True))
    return {
        "unit": "gradients" if absolute else "label shares",
        "zeta2": squares[-1],
        "delta2": squares[0],
        "tiers": [
            {"tier": tier, "symbol": symbol, "squared": square, "deviation": deviation}
            for tier, symbol, square, deviation in zip(table.tiers, symbols, squares, scaled, strict=True)
        ],
        "ratio": {**_plain(found.ratio), "if_lengths_differ": span and {"by_up_to": label_shift.LENGTHS, **span}},
        "scale": {
            "known": known,
            "zeta": scaled[-1] if two else None,
            "delta": scaled[0] if two else None,
            "why": None if known else "label counts do not tell how long class gradients are: give --gram or --scale",
        },
    }


def _dominant(table: LabelCounts, found: Measured) -> dict[str, Any]:
    """The clients, and the groups of the top tier, that add most to the deviation of their tier."""
    top = table.above[0] if table.above else np.arange(len(table.groups))
    members = top[table.group_of]
    names = [
        table.groups[int((top == i).argmax())].split("/")[0] if table.above else table.groups[i]
        for i in range(int(top.max()) + 1)
    ]
    pooled = np.zeros((len(names), len(table.labels)))
    np.add.at(pooled, members, table.counts)
    sizes = np.bincount(members)
    out: dict[str, Any] = {"dominant_clients": [], "dominant_groups": []}
    for tier, key in ((-1, "dominant_clients"), (0, "dominant_groups")):
        parts, net = found.plain.parts[tier], found.plain.squares[tier] - found.plain.noises[tier]
        if not (found.tiers[tier].value or 0) > 0 or (tier == 0 and found.chosen):
            continue
        for i in np.argsort(-parts, kind="stable")[:SHOWN].tolist():
            if parts[i] <= 0:
                break
            counts, share = table.counts[i], float(parts[i] / net)
            who: dict[str, Any] = {"client": table.clients[i], "group": table.groups[table.group_of[i]]}
            said = {**who, "share_of_zeta2": share}
            if tier == 0:
                counts, said = pooled[i], {"group": names[i], "clients": int(sizes[i]), "share_of_delta2": share}
            label = int(counts.argmax())
            out[key].append(said | {"label": table.labels[label], "label_share": float(counts[label] / counts.sum())})
    return out


def _plain(found: Interval) -> dict[str, Any]:
    return {name: finite(getattr(found, name)) for name in ("value", "low", "high")}


def _answer(data: Mapping[str, Any], cautions: Sequence[str], takes: NextStep) -> Measurement:
    whole = sum(tier["squared"]["value"] or 0.0 for tier in data["tiers"])
    rows = tuple(
        Deviation(
            id=tier["symbol"],
            tier=tier["tier"],
            squared=_measured_as(tier["squared"], data["level"]),
            without_correction=tier["squared"]["without_correction"],
            share=(tier["squared"]["value"] or 0.0) / whole if whole else None,
            hellinger=skewed["hellinger"],
            jensen_shannon=skewed["jensen_shannon"],
        )
        for tier, skewed in zip(data["tiers"], data["skew"], strict=True)
    )
    following = [takes]
    if not data["scale"]["known"]:
        following.append(NextStep(argv=("...", "--gram", "GRAM.csv"), why="gives the absolute scale"))
    return Measurement(
        verdict=Verdict(status="measured", best=_largest(data, rows), text=_sentence(data, rows)),
        rows=rows,
        measure=dict(data),
        warnings=tuple(Caution(text=text) for text in cautions),
        details={section: tuple(texts) for section, texts in _details(data, cautions)},
        next=tuple(following),
    )


def _recommended(path: Path, data: Mapping[str, Any], kept: Path | None, *, as_chosen: bool) -> NextStep:
    """What takes these deviations: the profile, or the counts where these tell as much.

    ``as_chosen`` says that the groups were said to be chosen by the counts, of which these say nothing.
    """
    if kept is None and (as_chosen or data["scale"]["known"]):
        keeps = "the scale" if data["scale"]["known"] else "these deviations"
        return NextStep(argv=("...", "--output", "profile.json"), why=f"keeps {keeps}, for `recommend --data`")
    why = "takes these deviations"
    if kept is not None and not as_chosen and not data["scale"]["known"]:
        why, kept = f"has the sizes of groups too, which {kept.name} has not", None
    weighted = kept is None and data["weighting"] == "samples"
    if kept is None and frames.content(path) is not None:  # no command takes a data frame
        weights = ', weights="samples"' if weighted else ""
        return NextStep(argv=(f"planner.recommend(data=COUNTS{weights})",), why=why)
    beside = ("--weights", "samples") if weighted else ()
    return NextStep(argv=("hfl-plan", "recommend", "--data", str(kept or path), *beside), why=why)


def _measured_as(number: Mapping[str, Any], level: float) -> Quantity:
    ends = number["low"], number["high"], level
    return Quantity(number["value"] or 0.0, "measured", *(() if None in ends else ends))


def _largest(data: Mapping[str, Any], rows: Sequence[Deviation]) -> tuple[str, ...]:
    """The tier that differs most; both of two where the interval of their ratio has 1, none where none is shown to."""
    if _unshown(rows):
        return ()
    if len(rows) == 2:
        ratio = data["ratio"]
        if ratio["value"] is not None and (ratio["low"] or 0.0) <= 1 <= (ratio["high"] or math.inf):
            return tuple(row.id for row in rows)
    return (max(rows, key=lambda row: row.squared).id,) if any(row.squared for row in rows) else ()


def _unshown(rows: Sequence[Deviation]) -> bool:
    """Whether sampling alone may be behind all that was measured of some tiers: every interval begins at 0."""
    return all(row.squared.low == 0 for row in rows)


def _sentence(data: Mapping[str, Any], rows: Sequence[Deviation]) -> str:
    best = _largest(data, rows)
    if not best:
        if any(row.squared.high for row in rows):
            return "The counts show no difference that sampling alone does not explain."
        return "All clients have the same data, as far as their label counts tell."
    if len(best) > 1:
        return "Groups differ about as much as the clients inside one."
    if len(rows) == 1:
        return "Clients differ; there are no groups."
    if len(rows) > 2:
        tier = next(row.tier for row in rows if row.id == best[0])
        return f"What differs most is the data of the {several(tier)}."
    if data["groups"] == 1:
        return "Clients differ; all are in one group."
    groups = counted(data["groups"], "group")
    each = zip(_assumed(data).values(), DIFFER, strict=True)
    is_little = not data["scale"]["known"] and all(one < PROBLEM["sigma"] * most for one, most in each)
    little = ", but all differ little, as with -H iid" * is_little
    if best == ("delta",):
        return f"The {groups} differ more than the clients inside one{little}."
    return f"Clients inside a group differ more than the {groups} do{little}."


def _assumed(data: Mapping[str, Any]) -> dict[str, float]:
    """Deviations as `recommend` assumes them where label counts give no scale, the lowest tier first."""
    scale = one_label(PROBLEM["sigma"], data["labels"])
    return {tier["symbol"]: scale * math.sqrt(tier["squared"]["value"] or 0.0) for tier in data["tiers"][::-1]}


def document(answer: Measurement) -> Document:
    """Lay a measurement out."""
    data = answer.measure
    names = {"delta": "between groups", "zeta": "within groups"} if len(answer.rows) == 2 else {}
    numbers = (Column("measured", "number"), Column("95 % interval", left=True), Column("share", "share"))
    rows: list[tuple[Cell, ...]] = [
        (names.get(row.id, row.tier), f"{row.id}^2", f"{row.squared:.3g}", _ends(row.squared), row.share)
        for row in answer.rows
    ]
    if data["ratio"]["value"] is not None:
        ratio = data["ratio"]
        rows.append(("ratio", "zeta^2/delta^2", two(ratio["value"]), _ends(_measured_as(ratio, 0.95), two), ""))
    table = Table((Column("deviation, squared"), Column(""), *numbers), tuple(rows))
    return told(answer, table, kind="Heterogeneity", facts=_facts(answer))


def _facts(answer: Measurement) -> Iterator[tuple[str, str]]:
    data = answer.measure
    each = f"; each of the {data['weighting']} counts the same" if data["weighting"] != "groups" else ""
    yield "Data", f"{counted(data['clients'], 'client')}, {data['labels']} labels, {data['samples']:,} samples{each}"
    unusual = [
        f"{noun} {shortened(row[noun], 20)}: {shortened(row['label'], 20)}, {percent(row[share])} of {symbol}^2"
        for noun, share, key, symbol, count in (
            ("client", "share_of_zeta2", "dominant_clients", data["tiers"][-1]["symbol"], data["clients"]),
            ("group", "share_of_delta2", "dominant_groups", data["tiers"][0]["symbol"], data["groups"]),
        )
        for row in data[key][:1]
        if not _unshown([tier for tier in answer.rows if tier.id == symbol]) and row[share] * count > UNUSUAL
    ]
    if unusual:
        yield "Unusual", "; ".join(unusual)
    tiers = [row.tier for row in answer.rows]
    names = ("between", "within") if len(tiers) == 2 else tiers
    hellinger = ", ".join(f"{row.hellinger:.2f} {name}" for row, name in zip(answer.rows, names, strict=True))
    yield "Skew", f"Hellinger {hellinger}; Jensen-Shannon {', '.join(f'{r.jensen_shannon:.2f}' for r in answer.rows)}"
    if data["scale"]["known"]:
        yield "Scale", ", ".join(f"{tier['symbol']} = {tier['deviation']:.4g}" for tier in data["tiers"][::-1])
    else:
        assumed = [f"{symbol} = {one:.2g}?" for symbol, one in _assumed(data).items()]
        yield "Unknown", f"the absolute scale: label counts give the ratio only. recommend assumes {', '.join(assumed)}"


def _details(data: Mapping[str, Any], cautions: Sequence[str]) -> Iterator[tuple[str, Iterable[str]]]:
    if span := data["ratio"]["if_lengths_differ"]:
        by = f"{span['by_up_to']:g}; the answer takes them as equally long."
        ratio = f"The ratio is {span['low']:.3g} to {span['high']:.3g}"
        yield "lengths", (f"{ratio} if class gradients differ in length by up to {by}",)
    places = (("intra", "within"), ("inter", "between"))
    yield "concentrations", (f"{word} groups: {_concentration(data['concentrations'][n])}" for n, word in places)
    for noun, share, tier in (("group", "delta2", data["tiers"][0]), ("client", "zeta2", data["tiers"][-1])):
        said = [
            f"{shortened(one[noun])}: {percent(one[f'share_of_{share}'], 1)} of {tier['symbol']}^2, "
            f"mostly {shortened(one['label'])} ({percent(one['label_share'])})"
            for one in data[f"dominant_{noun}s"]
        ]
        yield f"{noun}s", said
    plain = ((tier["symbol"], tier["squared"]["without_correction"]) for tier in data["tiers"])
    yield "correction", (f"{symbol}^2 without correction: {square:.4g}" for symbol, square in plain)
    distances = (
        f"{tier['tier']}: Hellinger {one['hellinger']:.4f}, at most {one['hellinger_most']:.4f}; "
        f"Jensen-Shannon (base 2) {one['jensen_shannon']:.4f}, at most {one['jensen_shannon_most']:.4f}."
        for tier, one in zip(data["tiers"], data["skew"], strict=True)
    )
    yield "skew", (SKEW, *distances)
    yield "warnings", cautions


def _concentration(part: Mapping[str, Any] | None) -> str:
    if part is None:
        return "none: nothing to compare"
    if part["unbounded"]:
        return "unbounded: no difference beyond counting"
    if part["low"] is None:
        return "0: every one has a single label"
    high = "no upper end" if part["high"] is None else f"{part['high']:.3g}"
    return f"{part['value']:.3g} (95 % {part['low']:.3g} to {high})"


def _ends(number: Quantity, write: Callable[[float], str] = "{:.3g}".format) -> str:
    """Write an interval; that of the ratio, which `recommend` draws with fewer samples, is known to two digits."""
    return "" if number.low is None or number.high is None else f"[{write(number.low)}, {write(number.high)}]"
