"""What ``hfl-plan compare`` answers about two scenarios: what differs, both verdicts, and which difference decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planner.decide.contrast import AIMS, PRESET, TIERS, Alone, Contrast, beside, turn
from planner.decide.recommendation import SHARING, Row
from planner.io import wording
from planner.io.answers import NextStep, Quantity, Target, Told, Verdict
from planner.io.parts import Part, field
from planner.io.wording import CASES, counted, input_words, join, join_with_limit, names_or, shortened, times, two
from planner.report.answers.recommend import SHOWN_AS
from planner.report.document import Cell, Column, Document, Table, numeric, typed
from planner.report.page import cell, told
from planner.report.render.table import first_that_fits
from planner.scenario.fields import FIELDS
from planner.scenario.units import format_amount

LONGEST, BESIDE = 22, 15  # letters of a cell, and of a name with two more columns beside it
NAMED = 56  # letters of a path on the page
FEW = 3  # differences of which the sentence says what each does alone
LISTED, LEAST = 5, 3  # differences on the page: at most, and where it has many other lines
CLOCKS = ("network.", "compute.", "model.", "availability.")  # keys that move the time of a round
TOPOLOGIES, FEWEST = 7, 4  # on the page: at most, and where it has many other lines
DECIDES = "<- decides"
OF_ERROR = (
    "Four of five predicted ratios of rounds were off by less than a factor {0}, in measured cases near the scenario "
    "where they were worse. Where no case is near, it is nine of ten of all. So a ratio of 1/{0} to {0} may be the "
    "other way round."
)
ONE_TARGET = "same target"  # the second to the target of the first
ANOTHER = {"toss-up": "another toss-up", "depends": "another best in a case"}  # of the status that there was before
STATUS = {"depends": "best by case"}  # in words that need no explanation
OWN = CASES["per-client"].rstrip("?")
SHORT = {one.key: one.options[0].lstrip("-").replace("-", " ") for one in FIELDS if one.options}


class Difference(Part):
    """A key that the two scenarios do not share, and what it does alone."""

    id: str = field("key of the scenario")
    before: Any = field("in the first; null for nothing said")
    after: Any = field("in the second; null for nothing said")
    taken: Any = field("what was taken where one says nothing: a count, or a choice or a number in words", default=None)
    status: str = field("of the first verdict with this value alone; empty where there is no answer", default="")
    best: tuple[str, ...] = ()
    decides: bool = field("whether it alone turns the first verdict into the second")
    together: bool = field("whether it does with others of which this is said, where none does alone", default=False)
    turns: bool = field("whether it alone changes the first verdict")
    why: str = field("why there is no answer with this value alone", default="")


class Compared(Told):
    """What ``hfl-plan compare`` answers about two scenarios."""

    schema: str = "hfl-plan/compare/2"
    rows: tuple[Difference, ...]
    compare: dict[str, Any] = field("both sides with title, verdict and rows; keys that decide alone, or only jointly")


def answered(found: Contrast, second: str = "") -> Compared:
    """Return the answer as data, with a next step where the second side is a scenario file, by its path."""
    rows = tuple(
        Difference.made_of(
            one,
            id=one.key,
            before=_plain(one.before),
            after=_plain(one.after),
            taken=_taken(found, one),
            status="" if one.verdict is None else one.verdict.status,
            best=() if one.verdict is None else one.verdict.best,
            why=one.why[:500],
            together=one.key in found.jointly,
        )
        for one in found.alone
    )
    sides = (found.first, found.second)
    decide = found.decisive or found.jointly
    status = "measured" if found.same else "best" if len(decide) == 1 else "toss-up" if found.decisive else "depends"
    aimed = found.to_one_target
    whole = NextStep(argv=("hfl-plan", "recommend", "--config", second), why="the second in full")
    return Compared(
        title=" and ".join(dict.fromkeys(side.name for side in sides)),
        objective=_objective(found),
        metric=found.first.answer.metric,
        target=found.first.answer.target if found.first.answer.target == found.second.answer.target else None,
        verdict=Verdict(status=status, best=decide, text=_sentence(found)),  # type: ignore[arg-type]
        rows=rows,
        compare={
            "sides": [
                {
                    "name": side.name,
                    "title": side.scenario.title,
                    "objective": side.answer.objective,
                    "target": None if side.answer.target is None else side.answer.target.to_json(),
                    "verdict": side.answer.verdict.to_json(),
                    "rows": [_row(row) for row in side.answer.rows],
                }
                for side in sides
            ],
            "second_to_first_target": None if aimed is None else [_row(row) for row in aimed.rows],
            "predictor_error": found.error if found.error > 1 else None,
            "ratios": _ratios(found),
            "same": found.same,
            "decisive": list(found.decisive),
            "jointly": list(found.jointly),
            "instead": {key: list(names) for key, names in found.instead.items()},
        },
        details={section: tuple(texts) for section, texts in _details(found)},
        next=(whole,) if second.endswith(".toml") and len(second) <= NAMED else (),
    )


def _ratios(found: Contrast) -> dict[str, dict[str, Any]]:
    """By topology the second's amount over the first's, where both are about one target, or differ in these alone.

    With whether the predictor's error covers it: null where all rounds stay the same, or those of both were given; or
    stay by the resolution where what differs moves clocks, so that one error is in both.
    """
    first, other, aimed = found.first.answer, found.second.answer, found.to_one_target
    if aimed is None and first.target != other.target and not found.of_aims:
        return {}
    name, _ = SHOWN_AS[_objective(found) or "time"]
    rows, ratios = {row.id: row for row in (aimed or other).rows}, {}
    pairs = [(row, rows[row.id]) for row in first.rows if row.id in rows]
    predicted = found.error > 1 and any(before.rounds != after.rounds for before, after in pairs)
    clocks = all(one.key.startswith(CLOCKS) for one in found.alone)
    for pair in pairs:
        was, now = (getattr(row, name) for row in pair)
        if was and now is not None:
            rounds = [row.rounds for row in pair if row.rounds is not None]
            stay = len(rounds) > 1 and all(one.origin == "given" for one in rounds)
            if clocks and len(rounds) > 1:
                stay = stay or math.isclose(*rounds, rel_tol=found.first.scenario.resolution)
            within = 1 / found.error <= now / was <= found.error if predicted and not stay else None
            ratios[pair[0].id] = {"value": float(now / was), "within_error": within}
    return ratios


def _objective(found: Contrast) -> Any:
    """What both are about; empty where that is not the same."""
    first, second = (side.answer.objective for side in (found.first, found.second))
    return first if first == second else ""


def _taken(found: Contrast, one: Alone) -> str | int | None:
    """What the side that says nothing takes: a count or a choice, or a number in words."""
    side = found.first if one.before is None else found.second
    if one.key.startswith("network.") and any("link" in str(v) for k, v in side.told.items() if "tiers" in k):
        return None  # links are said there
    if one.key.endswith(PRESET) and any(key.startswith(one.key.removesuffix(PRESET)) for key in side.told):
        return None  # numbers of its own
    symbol = next((each.symbol for each in FIELDS if each.key == one.key), "")
    known = side.scenario.known.get(symbol)
    if known is None or known.value is None or None not in (one.before, one.after) or one.key in AIMS:
        return None
    return known.value if isinstance(known.value, str | int) else format_amount(known.value, known.unit)


def _plain(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):  # tiers, groups
        return ", ".join(" ".join(str(one[key]) for key in ("name", "count", "clients") if key in one) for one in value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _row(row: Row) -> dict[str, Any]:
    amounts = ("rounds", "time_seconds", "traffic_bytes", "energy_joules", "carbon_kg_co2e", "money")
    numbers = {name: None if (n := getattr(row, name)) is None else Quantity.to_json(n) for name in amounts}
    return {"id": row.id, "title": row.title, "baseline": row.baseline, **numbers}


def document(answer: Compared) -> Document:
    """Lay the answer out."""
    sizes = [(most, LISTED) for most in range(TOPOLOGIES, FEWEST, -1)]
    sizes += [(FEWEST, listed) for listed in range(LISTED, LEAST - 1, -1)]
    sizes += [(FEWEST - 1, LEAST), (FEWEST - 1, LEAST - 1)]

    def page(most: int, listed: int) -> Document:
        differences = [_differences(answer, listed)] * bool(answer.rows)
        facts = tuple(_facts(answer, listed))
        return told(answer, [*differences, _topologies(answer, most)], kind="Comparison", facts=facts)

    return first_that_fits(page(*size) for size in sizes)


def choice(verdict: Verdict) -> str:
    """Say a verdict in a few words: ``Star-Star``, ``a toss-up of Star-Star or Ring-Ring``."""
    if verdict.status == "depends":
        on = "link sharing" if verdict.on == SHARING else f"the {input_words(verdict.on)}"
        return f"a verdict that depends on {on}"
    if len(verdict.best) > 1:
        few = len(verdict.best) <= 3
        return f"a toss-up of {names_or(verdict.best) if few else f'{len(verdict.best)} topologies'}"
    return names_or(verdict.best) if verdict.best else verdict.status


def _any_of(verdict: Verdict) -> str:
    """Say a verdict as a fact of few words, in which several are a toss-up."""
    return choice(verdict).removeprefix("a toss-up of ").removeprefix("a ")


def _by_case(verdict: Mapping[str, Any], at: str = "") -> dict[str, Verdict]:
    """The verdicts that one in JSON holds, by their names: ``time (own links)``, ``rounds``; "" for one alone."""
    found: dict[str, Verdict] = {}
    for case in verdict["cases"]:
        name = CASES.get(case["value"], case["value"]).rstrip("?")
        found |= _by_case(case, f"{at} ({name})" if at else name)
    return found or {at: Verdict(status=verdict["status"], best=tuple(verdict["best"]))}


def _sentence(found: Contrast) -> str:
    before, after = (side.answer.verdict for side in (found.first, found.second))
    cases = [_by_case(one.to_json()) for one in (before, after)]
    several = max(map(len, cases)) > 1
    others = {key: f" (or {_name(names[0])})" for key, names in found.instead.items()}
    named = [f"{_name(key)}{others.get(key, '')}" for key in found.decisive or found.jointly]
    if not found.alone:
        return "Both say the same in every case." if several else f"Both say the same: {choice(before)}."
    if found.same:
        turning = [_name(one.key) for one in found.alone if one.turns]
        but = f" Alone, {join_with_limit(turning)} would change it." if turning else ""
        return f"The verdict stays the same{' in every case' if several else f': {choice(before)}'}.{but}"
    became = f"{choice(before)} becomes {choice(after)}."
    if several and cases[0].keys() == cases[1].keys():
        changed = [name for name in cases[0] if turn(cases[0][name]) != turn(cases[1][name])]
        became = f"the best changes for {join(changed)}."
    if len(found.decisive) > 1:
        return f"{join_with_limit(named)} decide, each alone: {became}".replace(named[0], wording.capital(named[0]), 1)
    if found.decisive:
        return f"{wording.capital(named[0])} {'decide' if _many(named[0]) else 'decides'}: {became}"
    alone = [
        f"{_name(one.key)} alone {'make' if _many(_name(one.key)) else 'makes'} it {choice(one.verdict)}"
        for one in found.alone
        if one.turns and one.verdict is not None
        # which names one topology, or none of those that were
        if len(one.verdict.best) == 1 or not {*one.verdict.best} & {*before.best}
    ]
    also = f" {wording.capital(join(alone))}." if alone and len(named or alone) <= FEW else ""
    if not named:
        return f"{wording.capital(became[:-1])}: no small set of differences was found to explain it.{also}"
    return f"{wording.capital(join(named))} decide together: {became}{also}"


def _many(name: str) -> bool:
    return name.endswith("s") and not name.endswith("ss")


def _name(key: str) -> str:
    """A key for people: the name of its option, or of the symbol."""
    if key.startswith(f"{TIERS}."):
        return key.removeprefix(f"{TIERS}.").replace(".", " ")
    return SHORT.get(key) or input_words(key.partition(".")[2] or key)


def _differences(answer: Compared, most: int) -> Table:
    sides = answer.compare["sides"]
    decide = set(answer.verdict.best)
    alone = answer.compare["decisive"]
    rows: list[tuple[Cell, ...]] = []
    for row in sorted(answer.rows, key=lambda one: (one.id not in decide, not one.turns))[:most]:
        mark = "" if row.id not in decide else DECIDES if alone else "<- together"
        if stands := [key for key, others in answer.compare["instead"].items() if row.id in others]:
            mark = f"<- as well as {_name(stands[0])}"
        if mark != DECIDES and row.turns:
            again = row.status == sides[0]["verdict"]["status"]
            what = (ANOTHER if again else STATUS).get(row.status, row.status)
            if len(row.best) == 1:
                mark = f"alone -> {names_or(row.best)}"
            mark = mark or f"alone -> {what}"
        if len(answer.rows) == 1:
            mark = "<- the only difference"
        rows.append((_name(row.id), _cell(row.before, row.taken), _cell(row.after, row.taken), mark))
    columns = typed("text", "differs", *(shortened(side["name"], LONGEST) for side in sides), "")
    return Table(columns, tuple(rows), label="What differs", apart=False, indent=2)


def _cell(value: Any, taken: str | int | None) -> str:
    if value is None:
        return "not given" if taken is None else f"{shortened(str(taken), LONGEST)}, not given"
    return shortened(str(value), LONGEST)


def _topologies(answer: Compared, most: int) -> Table:
    """The amount of every topology on both sides, or of one where they are the same: of one objective, else of time."""
    name, write = SHOWN_AS[answer.objective or "time"]
    told = answer.compare["sides"]
    sides = [{row["id"]: row for row in side["rows"]} for side in told]
    best = {id_ for side in told for id_ in side["verdict"]["best"]}
    every, ratios = dict.fromkeys((*sides[0], *sides[1])), answer.compare["ratios"]
    most_said = best if best & {*ratios} else {*ratios}  # where no best has a ratio, those that both sides have
    first = sorted(every, key=lambda id_: (id_ not in most_said, id_ not in best, id_ not in ratios))[:most]
    ids = [id_ for id_ in every if id_ in first]
    word: str = answer.objective or "time"
    own = [word == "time" and any(OWN in n for n in _by_case(side["verdict"])) for side in told]
    aimed = answer.compare["second_to_first_target"]
    heads = [shortened(side["name"], BESIDE if aimed else LONGEST) for side in told]
    if all(own):
        word = f"time, {OWN}"
    elif any(own):  # the other side says how clients share their link
        heads = [f"{head}, {OWN}" if one else head for head, one in zip(heads, own, strict=True)]
    titles = {id_: row["title"] for side in sides for id_, row in side.items()}
    if aimed:
        sides, heads = [*sides, {row["id"]: row for row in aimed}], [*heads, ONE_TARGET]
    rows: list[tuple[Cell, ...]] = []
    for id_ in ids:
        amounts = [cell(write, (side.get(id_, {}).get(name) or {}).get("value")) for side in sides]
        ratio = [times(ratios.get(id_, {}).get("value"))] * bool(ratios)
        rows.append((titles[id_], *([*amounts, *ratio] if answer.rows else amounts[:1])))
    named = (word, *heads, *["ratio"] * bool(ratios)) if answer.rows else ("topology", word)
    columns = (Column(named[0]), *numeric(*named[1:]))
    which, label = frozenset(i for i, id_ in enumerate(ids) if id_ in best), f"Topologies by {word}"
    return Table(columns, tuple(rows), label=label, best=which, indent=2, apart=bool(answer.rows))


def _facts(answer: Compared, listed: int) -> Iterator[tuple[str, str]]:
    left = len(answer.rows) - listed
    if left > 0:
        too = max(len(answer.verdict.best) - listed, 0)
        deciding = f", {too} that decide{'s' * (too == 1)} too" * bool(too)
        yield "More", f"{counted(left, 'difference')}{deciding}: --explain differences"
    sides = answer.compare["sides"]
    targets = [side["target"] for side in sides]
    if targets[0] != targets[1] and all(targets):
        values = [target["value"] for target in targets]
        known = not Target(metric=targets[0]["metric"]).stands_for(answer.metric)
        if known and None not in values and targets[0]["metric"] == targets[1]["metric"]:
            one = ""
            if answer.compare["second_to_first_target"]:
                name, second = (shortened(side["name"], LONGEST) for side in sides)
                turned = f"in the other order {values[1]:.3g}, where ratios may differ"
                one = f"; {ONE_TARGET}: {second} to {values[0]:.3g}, of {name}; {turned}"
            yield "Targets", f"{targets[0]['metric']} {values[0]:.3g} and {values[1]:.3g}{one}"
        else:
            each = dict.fromkeys(target["defined_by"] for target in targets)
            yield "Targets", f"{'each its own: ' * (len(each) == 1)}{' and '.join(each)}"
    yield from _certain(answer)
    cases = [_by_case(side["verdict"]) for side in sides]
    if len(cases[0]) > 1 and cases[0].keys() == cases[1].keys():
        names_of: dict[tuple[str, str], list[str]] = {}
        for name, before in cases[0].items():
            was, now = _any_of(before), _any_of(after := cases[1][name])
            text = was if turn(before) == turn(after) else f"{was} -> {now}"
            names_of.setdefault((text, name.partition("(")[2]), []).append(name)  # own and shared links apart
        for (text, _), names in names_of.items():
            yield wording.capital(", ".join(names)), text
        return
    for side in sides if answer.rows else sides[:1]:
        said = side["verdict"]["text"].partition(". ")[0]
        yield shortened(side["name"], LONGEST), said if said.endswith(("?", ".")) else f"{said}."
    (one, advice), (other, then) = (_without_servers(side["verdict"]["baseline"]) for side in sides)
    if advice != then and not any(side["verdict"]["cases"] for side in sides):  # cases have their own, on their pages
        yield "One tier", f"{one} -> {other}"


def _without_servers(baseline: Mapping[str, Any] | None) -> tuple[str, tuple[bool, ...]]:
    """What one tier takes over what the best does, ``FedAvg 0.87x (2x via servers)``, and what advice that is."""
    if baseline is None:
        return "none takes less", ()
    ratio, through = (None if one is None else one["value"] for one in (baseline["ratio"], baseline["through"]))
    via = "" if through is None else f" ({times(through)} via servers)"
    said = f"{baseline['title'].partition(',')[0]} {times(ratio)}{via}"
    return said, (baseline["advised"], through is not None and through > 1)


def _certain(answer: Compared) -> Iterator[tuple[str, str]]:
    """Say which ratios are within the predictor's error."""
    known = {id_: one["within_error"] for id_, one in answer.compare["ratios"].items()}
    titles = {row["id"]: row["title"] for row in answer.compare["sides"][0]["rows"]}
    within = [titles[id_].partition(",")[0] for id_, one in known.items() if one]
    if answer.rows and {*known.values()} - {None}:
        error = f"the predictor's error, {times(answer.compare['predictor_error'])} (--explain ratios)"
        if within and len(within) < len(known):
            yield "Ratios", f"within {error}: {join_with_limit(within)}"
        elif None not in known.values():
            yield "Ratios", f"all {'within' if within else 'beyond'} {error}"


def _details(found: Contrast) -> Iterator[tuple[str, Iterable[str]]]:
    along = beside(found.first, found.second).items()
    said = [f"{key} is compared together with {join(others)}: one difference." for key, others in along if others]
    yield "differences", (*(_alone(one, one.key in found.jointly) for one in found.alone), *said)
    sides = ((side.name, side.answer.target) for side in (found.first, found.second))
    yield "targets", (f"{name}: {target.defined_by}." for name, target in sides if target)
    if any(one["within_error"] is not None for one in _ratios(found).values()):
        yield "ratios", (OF_ERROR.format(two(found.error)),)
    if found.jointly:
        yield "jointly", (f"Together, and none spared: {', '.join(found.jointly)}.",)


def _alone(one: Alone, together: bool) -> str:
    before, after = ("not given" if value is None else _plain(value) for value in (one.before, one.after))
    changed = f"{one.key}: {before} -> {after}"
    mark = " (decides)" if one.decides else " (decides together with others)" if together else ""
    if one.verdict is None:
        return f"{changed}: no answer alone ({one.why}){mark}."
    return f"{changed}: alone, {choice(one.verdict)}{mark}."
