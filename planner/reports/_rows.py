"""What the formats for people have in common: the columns, and sentences about flips and evidence."""

from __future__ import annotations

from planner.explain import title
from planner.recommendation import Flip, Recommendation, Row
from planner.units import format_duration, format_rate, format_size

COLUMNS = (
    "",
    "topology",
    "rounds",
    "time",
    "traffic",
    "time/round",
    "eta_eff",
    "eta",
    "held back by",
    "first in",
)
SHORT = {
    "start": "start gap",
    "noise": "noise",
    "client_sampling": "client draw",
    "group_sampling": "group draw",
    "local_noise_drift": "local noise",
    "noise_drift": "noise drift",
    "intra_drift": "intra-group gap",
    "sampled_intra_drift": "intra-group gap",
    "inter_drift": "inter-group gap",
}
UNITS = {"bit/s": format_rate, "bytes": format_size, "s": format_duration}


def cells(row: Row) -> tuple[str, ...]:
    """The texts of one row, in the order of `COLUMNS`; a dash where there is no number."""
    return (
        f"{row.rank}" + ("=" if row.tie == 1 and row.rank > 1 else ""),
        title(row.topology),
        "-" if row.rounds is None else f"{row.rounds:,}",
        "-" if row.seconds is None else format_duration(row.seconds),
        "-" if row.bytes is None else format_size(row.bytes),
        "-" if row.seconds_per_round is None else format_duration(row.seconds_per_round),
        "-" if row.eta_eff is None else f"{row.eta_eff:.3g}",
        "-" if row.eta is None else f"{row.eta:.3g}",
        "-" if row.dominant is None else SHORT[row.dominant] + (", cap" if row.cap_binds else ""),
        "-" if row.p_best is None else f"{row.p_best:.0%}",
    )


def flip_sentence(flip: Flip) -> str:
    """One flip in words."""
    before, after = (_amount(value, flip.unit) for value in (flip.from_, flip.at))
    how = "" if flip.exact else " (searched)"
    return f"{flip.parameter} from {before} to {after}: {title(flip.to)} comes first{how}"


def basis(answer: Recommendation) -> list[str]:
    """What the answer stands on: the bound, what nobody gave, and the record of the order."""
    hidden = " (up to a hidden constant)" if answer.constants == "hidden" else ""
    share = "" if answer.confidence.p_best is None else f", first in {answer.confidence.p_best:.0%} of draws"
    margin = "" if answer.confidence.margin is None else f", {answer.confidence.margin:.0%} ahead of the next"
    said = [
        f"Confidence: {answer.confidence.level}{share}{margin}. Draws vary what nobody gave (sigma, zeta, delta, L A) "
        "by up to a factor 3; they say nothing about the bound itself.",
        f"Bounds: {answer.bounds}{hidden}, step cap {answer.cap}; a round is timed by its {answer.cost}.",
    ]
    beyond = [title(row.topology) for row in answer.ranking if row.beyond_own_cap]
    if beyond:
        said.append(
            f"The learning rates of {', '.join(beyond)} exceed the caps that the theorem prints; that its order "
            "statement holds there too is by hflbounds.sharp for full participation, and an assumption for partial."
        )
    assumed = [
        f"{name} = {_amount(known.value, known.unit)}"
        for name, known in answer.scenario.items()
        if known.origin == "default" and isinstance(known.value, int | float) and "." not in name
    ]
    if assumed:
        said.append(f"Not given, so assumed: {', '.join(assumed)}.")
    for record in answer.evidence:
        held = f"as predicted in {record.agrees} of {record.of}"
        said.append(f"Record of the order per round: {held}, {record.where} ({record.note}).")
    said.append(
        "The bound is on the mean squared gradient, not on accuracy; an order of bounds is not an order of performance."
    )
    return said


def flips(answer: Recommendation, most: int = 6) -> list[str]:
    """The nearest flips in words, or that there are none."""
    if not answer.flips_searched:
        return []
    found = [flip_sentence(flip) for flip in answer.flips[:most]]
    return [*found, f"Looked at: {answer.flips_searched}." if found else f"Nothing: {answer.flips_searched}."]


def _amount(value: float | int | str | None, unit: str) -> str:
    if isinstance(value, str) or value is None:
        return str(value)
    return UNITS[unit](float(value)) if unit in UNITS else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
