"""What ``hfl-plan bounds worst-case`` answers: a worst case that is solved now, or those that are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, cast

from hflbounds.core.assumptions import RANDOM_ORDER
from hflbounds.core.bound import Bound
from hflbounds.errors import ConditionError, DomainError
from hflbounds.exact import exact_bound
from hflbounds.topology import Topology, TopologyError, tier_symbols, two_tier
from hflbounds.worst import CertificateError, SolverError, worst_case
from hflbounds.worst.compared import comparable, ratios, values
from hflbounds.worst.stored import Question
from planner.errors import NoAnswerError, ScenarioError
from planner.io.listings import Listing, listing
from planner.report.answers import bound_options as options
from planner.report.answers import bound_tree
from planner.report.document import Column, Section, Table, numeric
from planner.report.page import brief

NEEDED = ("K", "R", "A", "eta_eff")
SMALL = {"G": 2, "M": 2, "K": 1, "R": 2, "A": 0.1, "eta_eff": 0.05, "delta": 1, "zeta": 1}
"""Examples that every bound allows, and that are solved in a second; random orders in both tiers take half a minute."""
LOSS = 1.05  # of a proof over what the solver says; beyond, the numbers are too far apart for it
SCALE = "Take L = 1, and A and the heterogeneity nearer to 1."
ABOUT_TREE = ("G", "M", "P", "S1", "S2")


def answered(
    name: str | None,
    settings: Sequence[str],
    tiers: str | None,
    *,
    shape: Mapping[str, str | None],
    draws: str = "common",
    progress: Callable[[str], None] | None = None,
) -> Listing:
    """Say the worst case of a tree beside a bound; without numbers, the stored cases of the bound.

    Raises:
        UnknownBoundError: for an id that there is not.
        ScenarioError: for numbers that are missing or cannot be meant, and for a tree that is too large.
        MissingExtraError: if the solver is not installed.
        NoAnswerError: if it finds nothing, or nothing is stored.
    """
    bound = None if name is None else options.bound_named(name)
    numbers = options.numbers(settings)
    numbers |= {n: int(value) for n, value in numbers.items() if isinstance(value, float) and value.is_integer()}
    if bound is not None and not comparable(bound):
        raise ScenarioError(
            f"{bound.id} is no upper bound of the mean squared gradient with explicit constants and all clients, which "
            "is what worst cases are of. `hfl-plan bounds list --search exact` shows some."
        )
    if tiers is None:
        other = {"passes": "Write --set P=2", "drawn": "All children take part. Leave it out"}
        other |= {} if numbers else {"order": "Stored cases have one. Add numbers", "deltas": "Add numbers"}
        if stray := [name for name in other if shape.get(name) is not None]:
            raise ScenarioError(f"--{stray[0]}: it is of --tiers ring:2/star:2. {other[stray[0]]}.")
    if bound is not None and not numbers and tiers is None:
        return _listed(bound)
    options.known("--draws", draws, ("common", "fresh"))
    options.known("--order", shape.get("order"), ("fixed", "random"))
    question = _question(bound, numbers, tiers, shape, cast(Literal["common", "fresh"], draws))
    L = numbers.get("L", 1)
    given = {"K": question.K, "R": question.R, "L": L, "A": numbers["A"], "eta_eff": numbers["eta_eff"]}
    try:
        found = worst_case(question.topology, **given, deltas=question.deltas, draws=question.draws, progress=progress)
    except DomainError as error:
        raise ScenarioError(str(error)) from None
    except (SolverError, CertificateError) as error:
        raise NoAnswerError(str(error)) from None
    except OverflowError:
        raise NoAnswerError(f"the numbers are beyond the solver's. {SCALE}") from None
    if found.value > found.solved * LOSS:
        said = f"the solver says {found.solved:.3g}, and only {found.value:.3g} could be proved"
        raise NoAnswerError(f"{said}. {SCALE}")
    beside, silent = _bounds(bound, question, float(L))
    rows = [(other, value, found.value / value) for other, value in beside]
    text = f"Mean squared gradient: {found.value:.6g} at worst, {question.topology.title}."
    own = {"case": question.as_dict() | {"L": str(L)}}
    own |= {name: getattr(found, name) for name in ("value", "solved", "gradients", "solver", "status", "seconds")}
    records = [{"bound": other, "value": value, "ratio": ratio} for other, value, ratio in rows]
    answer = listing("bounds-worst-case", text, own, records, warnings=silent)
    columns = (Column("bound"), *numeric("value", "worst case / bound"))
    cells = tuple((other, f"{value:.6g}", f"{ratio:.4f}") for other, value, ratio in rows)
    lost = found.value / found.solved - 1
    how = (
        f"{found.solver}, {found.seconds:.1f} s, a matrix of {found.gradients} gradients. Proved again in whole "
        f"numbers, which loses {lost:.1e} of the value.",
        "Without noise. `docs/theory/worst-case.md` says what is exact.",
    )
    facts = [("How", f"{found.solver}, proved again in whole numbers; without noise")]
    body = [Table(columns, cells, indent=2, apart=False)] * bool(rows)
    return brief(answer, body, facts=facts, sections=[Section.said("how", "How", how)], kind="Worst case")


def _listed(bound: Bound) -> Listing:
    found = ratios(bound)
    if not found:
        raise NoAnswerError(f"no worst case of {bound.id} is stored. Give sizes: --set G=2 --set M=2 ...")
    letters = ("G", "M", "P", "K", "R", "A", "delta", "zeta", "eta_eff")
    rows, records = [], []
    for one, ratio in found:
        told = values(one.question)
        record = {name: told[name] for name in letters}
        records.append(record | {"worst_case": one.value, "bound": one.value / ratio, "ratio": ratio})
        rows.append(
            (*(f"{told[name]:g}" for name in letters), *(f"{x:.4g}" for x in (one.value, one.value / ratio, ratio)))
        )
    columns = numeric(*letters, "worst case", "bound", "ratio")
    text = f"{len(rows)} stored cases of {bound.id}: L = 1, no noise. Numbers with --set solve another one."
    answer = listing("bounds-worst-case", text, {"bound": bound.id}, records)
    return brief(answer, Table(columns, tuple(rows)), kind="Worst cases")


def _question(
    bound: Bound | None,
    numbers: Mapping[str, Any],
    tiers: str | None,
    shape: Mapping[str, str | None],
    draws: Literal["common", "fresh"],
) -> Question:
    topology = _tree(bound, {"G": SMALL["G"], "M": SMALL["M"], **numbers}, tiers, shape)
    deltas, of_tiers = bound_tree.split("--deltas", shape.get("deltas"), topology.depth), list[str]()
    if deltas is None:
        of_tiers = [one.deviation for one in tier_symbols(topology.depth)]
        if topology.depth != 2 and not numbers.keys() >= {*of_tiers}:
            way = "/".join("1" * topology.depth)
            raise ScenarioError(f"--deltas: a worst case needs the heterogeneity of each tier. Write --deltas {way}.")
    if bound is not None and not _covered(bound, topology):
        said = f"bounds worst-case: {bound.id} is about another topology, order, sample or number of passes"
        raise ScenarioError(f"{said}. Leave out the bound, or what is said of the tree.")
    needed = [*(["G", "M"] if tiers is None else []), *NEEDED, *of_tiers]
    if missing := [name for name in needed if name not in numbers]:
        raise ScenarioError(
            f"--set: a worst case also needs {', '.join(missing)}. {options.examples(missing, SMALL)}", code="E003"
        )
    deltas = deltas or [str(numbers[name]) for name in of_tiers]
    _heeded(numbers, [*(["G", "M", "P"] if tiers is None else []), *of_tiers])
    try:
        A, eta_eff, *deviations = (Fraction(str(one)) for one in (numbers["A"], numbers["eta_eff"], *deltas))
    except (ValueError, ZeroDivisionError):
        raise ScenarioError(f"--deltas: {'/'.join(deltas)!a:.60} is not a list of numbers, such as 1/0.5.") from None
    return Question(topology, numbers["K"], numbers["R"], A, tuple(deviations), eta_eff, draws)


def _covered(bound: Bound, tree: Topology) -> bool:
    """Whether a bound is about a tree; what holds for every fixed order holds for random ones."""
    ordered = RANDOM_ORDER not in bound.assumes or all(tier.order == "random" for tier in tree.tiers)
    all_of_it = tree.tiers[0].passes == 1 and not any(tier.sampled for tier in tree.tiers)
    return tree.id == bound.topology and ordered and all_of_it


def _heeded(numbers: Mapping[str, Any], of_tree: Sequence[str]) -> None:
    """Refuse numbers that this worst case has no use for."""
    if numbers.get("sigma"):
        raise ScenarioError("--set: sigma plays no part, as worst cases are without noise. Leave it out.")
    used = [*NEEDED, "L", "sigma", *of_tree]
    if stray := [name for name in numbers if name not in used]:
        way = "--tiers and its options say what the tree is" if stray[0] in ABOUT_TREE else "Leave it out"
        raise ScenarioError(f"--set: this worst case has no use for {stray[0]}. {way}.")


def _tree(
    bound: Bound | None, numbers: Mapping[str, Any], tiers: str | None, shape: Mapping[str, str | None]
) -> Topology:
    order: Any = shape.get("order") or ("random" if bound is not None and RANDOM_ORDER in bound.assumes else "fixed")
    try:
        if tiers is None:
            if bound is None:
                raise ScenarioError("bounds worst-case: name a bound, or a tree with --tiers ring:2/star:2.")
            P = numbers.get("P", 1)
            return two_tier(str(bound.topology), G=numbers["G"], M=numbers["M"], P=P, order=order)
        return bound_tree.sized(tiers, shape, order)
    except TopologyError as error:
        raise ScenarioError(f"--tiers: {error}") from None


def _bounds(bound: Bound | None, question: Question, L: float) -> tuple[list[tuple[str, float]], tuple[str, ...]]:
    """The values of bounds for this case, and why others have none."""
    tree, found, silent = question.topology, [], []
    try:
        value = exact_bound(
            tree, K=question.K, R=question.R, L=L, A=float(question.A), sigma=0,
            deltas=[float(one) for one in question.deltas], eta_eff=float(question.eta_eff), draws=question.draws,
        )  # fmt: skip
        found.append(("trees of any depth (docs/theory/any-depth.md)", float(value)))
    except ConditionError as error:
        silent.append(f"trees of any depth (docs/theory/any-depth.md): {error}")
    if bound is not None:
        told = values(question) | {"L": L}
        try:
            found.append((bound.id, float(bound(**{name: told[name] for name in bound.needs if name in told}))))
        except ConditionError as error:
            silent.append(f"{error}.")
    return found, tuple(silent)
