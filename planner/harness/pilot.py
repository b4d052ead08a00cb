"""A short race of topologies on a user's own model and data."""

from __future__ import annotations

import math
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hflbounds.topology import Order, Topology, all_topologies
from planner.errors import ScenarioError
from planner.harness import need, refusals, stoppable
from planner.harness.hooks import opened

if TYPE_CHECKING:
    from validation.problems.supplied import Supplied
    from validation.race import Lane as Lane
    from validation.race import Raced as Raced

FACTOR = 4.0  # between neighbours of the first grid of rates
SEEDS = 1000  # apart for two seeds of a race: no draws are shared
ONE_BY_ONE = "torch.func.vmap cannot batch this model, so its copies were trained one after the other, which is slow."
Tell = Callable[[str, str | None], object]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Who takes part in a race."""

    clients: int  # all of them
    taking_part: int  # of these, in a round; in the mean over draws where groups differ
    passes: tuple[int, ...]  # of every tier, top first
    local_steps: int  # of a client between two averagings
    order: Order  # of rings
    samples: tuple[int, ...] | None = None  # what each client counts, where they do not count alike
    sizes: tuple[tuple[int, ...], ...] = ()  # children of every node above each tier, top first


@dataclass(frozen=True, slots=True)
class Racer:
    """A system that is no tree of the fleet, and races beside the trees."""

    id: str  # permanent
    family: str  # of systems
    title: str  # for people
    algorithm: str  # of `validation`, by name
    options: Mapping[str, Any]  # of the algorithm
    at_nodes: bool = False  # whether the metric is the mean over the nodes' own models, as there is no global one
    slowdowns: tuple[float, ...] = ()  # how long a task of each region takes, where a server steps by that clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What race is asked for."""

    rounds: int = 8  # global rounds
    rates: int | tuple[float, ...] = 7  # how many effective rates the first grid has, or raw rates
    seeds: int = 4  # that topologies are compared on; rates are chosen on another one
    metric: Literal["loss", "accuracy"] = "loss"  # ``loss`` in training, or ``accuracy`` in the test
    within: float | None = None  # seconds that it may take; None for as long as it needs
    local_steps: int = 2  # of a client between two averagings
    # of a node through its children before it answers its parent, for each tier below the top
    passes: tuple[int, ...] = ()
    drawn: tuple[int, ...] | None = None  # children of a node that take part, top tier first; None for all
    order: Order = "fixed"  # of rings, ``fixed`` or ``random``
    # what clients count by in means and in the loss, ``samples`` or ``equal``
    weights: Literal["samples", "equal"] = "equal"
    batch: int = 32  # samples of a local step
    measured: int = 5000  # at most so many training samples, and as many of the test, are measured on
    topologies: tuple[str, ...] = ()  # that race beside the first; none for all
    seed: int = 0  # of every random draw
    # says which systems race beside the trees of a fleet; None for none
    beside: Callable[[Fleet], tuple[Racer, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """What was raced on."""

    # the topologies with their numbers, by id, those that are one algorithm by the first of them
    trees: Mapping[str, Topology]
    alike: Mapping[str, tuple[str, ...]]  # those that are the same algorithm, by the first
    sizes: tuple[tuple[int, ...], ...]  # children of every node above each tier, top first
    drawn: tuple[int, ...]  # drawn, passes: of every tier, top first
    passes: tuple[int, ...]
    counted: tuple[int, ...] | None  # what each client counts, in the order of the tree, where they do not count alike
    digest: str  # of the data and the first model
    clients: int  # that take part
    samples: int  # of all clients
    parameters: int  # of the model
    tested: int  # samples of the test
    start: float  # the metric before the first round, smaller is better
    notes: tuple[str, ...]  # what is not as it would be in training
    # systems that raced beside the trees, and how many local steps a round of each chains
    beside: tuple[tuple[Racer, float], ...] = ()


def on_hook(hook: Path, wanted: Wanted, store: Path | None, tell: Tell, **how: Any) -> tuple[Course, Raced]:
    """Race on the model and the data of a hook.

    ``tell`` is told what is being done, and which topology is in front; other arguments are as of `on_model`.

    Raises:
        ScenarioError: For a file that is no hook, and what cannot be meant.
        NoAnswerError: If nothing can be raced.
    """
    with opened(hook, "pilot", wanted.seed) as given:
        test = None if given.test is None else given.test()
        with refusals(f"{hook}: "):
            made = _supplied(given.model, given.clients, given.loss, test, wanted)
            return _raced(made, str(hook.absolute()), wanted, store, tell, **how)


def on_model(
    model: Any, clients: Any, loss: Any, test: Any, wanted: Wanted, store: Path | None, tell: Tell, **how: Any
) -> tuple[Course, Raced]:
    """Race on a model, clients as triples of a group, inputs and targets, a loss or the usual one, and a test or none.

    ``tell`` is told what is being done, and which topology is in front; ``how`` has ``workers``, processes; ``engine``,
    ``local`` or ``ray``; ``device``, ``cpu`` or ``cuda``.

    Raises:
        NoAnswerError: If nothing can be raced.
    """
    need("pilot", "torch", "scipy")
    if how.get("workers", 1) != 1 or how.get("engine", "local") != "local":
        raise ScenarioError("workers: a model of this process is trained by this process. Write a hook file.")
    with refusals():
        return _raced(_supplied(model, clients, loss, test, wanted), "", wanted, store, tell, **how)


def on_proxy(
    proxy: str,
    counts: Any,
    groups: Sequence[Any],
    classes: Sequence[int] | None,
    wanted: Wanted,
    store: Path | None,
    tell: Tell,
    **how: Any,
) -> tuple[Course, Raced]:
    """Race on label counts, of shape (clients, labels), laid on a data set that is at hand; all else as of `on_model`.

    Groups of clients are tuples where they are nested. ``classes`` of the data set stand for the labels; by default the
    first ones in order.

    Raises:
        NoAnswerError: If the data set is not there, or nothing can be raced.
    """
    need("pilot", "torch", "scipy")
    with refusals("--proxy: "):
        from validation.proxies import laid

        found = laid(proxy, counts, classes, seed=wanted.seed)
    clients = [(group, *own) for group, own in zip(groups, found.clients, strict=True)]
    course, raced = on_model(found.module, clients, None, found.test, wanted, store, tell, **how)
    less = f"{100 * found.share:.2g} % of the samples of the table: {proxy} has no more." if found.share < 1 else ""
    return replace(course, notes=(*course.notes, *[less] * bool(less))), raced


def student(level: float, freedom: int) -> float:
    """Quantile of Student's distribution for a two-sided interval."""
    from validation.statistics import student_quantile

    return student_quantile(level, freedom)


def _supplied(model: Any, clients: Any, loss: Any, test: Any, wanted: Wanted) -> Supplied:
    from validation.problems.supplied import supplied

    made = supplied(model, clients, loss, test, batch=wanted.batch, weights=wanted.weights)
    if wanted.metric == "accuracy" and made.tested is None:
        raise ScenarioError(
            "--metric accuracy: there is no test data. Give the hook def test(): return X, y, or take --metric loss."
        )
    return made


def _raced(
    made: Supplied, path: str, wanted: Wanted, store: Path | None, tell: Tell, workers: int = 1,
    engine: str = "local", device: str = "cpu",
) -> tuple[Course, Raced]:  # fmt: skip
    from validation.experiment import make_problem, on, part
    from validation.race import Plan, race, started
    from validation.store import Store
    from validation.sweep import How, Where, executing, one_thread, possible

    possible(workers, engine, device)
    trees, alike, passes = _trees(made, wanted)
    weights = {"weights": wanted.weights} if made.counted else {}
    problem = part(
        "hook", path=path, digest=made.digest, batch=wanted.batch, measured=wanted.measured, hook_seed=wanted.seed,
        **weights,
    )  # fmt: skip
    with on(device), one_thread():
        model = make_problem(problem)
        start = started(model)
        slow = not getattr(model, "batched", True)
    chains = {name: tree.effective_steps(wanted.local_steps) for name, tree in trees.items()}
    numbers = {
        "passes": "/".join(map(str, passes)), "drawn": _joined(wanted.drawn), "order": wanted.order, **_of_nodes(made)
    }  # fmt: skip
    parts = {name: part("tree", topology=name.replace("-", "/"), K=wanted.local_steps, **numbers) for name in trees}
    beside, updates = _beside(made, next(iter(trees.values())).taking_part, passes, wanted)
    parts |= {racer.id: part(racer.algorithm, **racer.options) for racer, _ in beside}
    chains |= {racer.id: chain for racer, chain in beside}
    first = SEEDS * wanted.seed
    plan = Plan(
        problem=problem,
        trees={name: (parts[name], chains[name]) for name in parts},
        quantity="loss" if wanted.metric == "loss" else "error",
        guide="loss",
        rounds=wanted.rounds,
        tuning=(first,),
        final=tuple(first + 1 + i for i in range(wanted.seeds)),
        rates=_rates(made, wanted, chains),
        within=wanted.within,
        workers=workers,
        updates=updates,
    )
    with tempfile.TemporaryDirectory() if store is None else nullcontext(str(store.parent)) as folder:
        file = Path(folder) / (store.name if store is not None else "pilot.runs")
        way = f"run the same command again: it goes on from {shlex.quote(str(file))}" if store is not None else ""
        how = How(workers, engine, Where(device, None, "auto"))  # type: ignore[arg-type]  # `possible` has looked
        with stoppable(way), executing(file, how) as execute, Store(file) as kept, one_thread():
            raced = race(plan, execute, kept.seconds, lambda what, who: tell(what, who if who in trees else None))
    course = Course(
        trees, alike, made.sizes, tuple(wanted.drawn or made.tree), passes, made.counted, made.digest,
        len(made.clients), sum(made.samples), len(made.losses.start()), len(made.tested[0]) if made.tested else 0,
        start[plan.quantity],
        (*made.losses.cautions(), *[ONE_BY_ONE] * slow), beside,
    )  # fmt: skip
    return course, raced


def _of_nodes(made: Supplied) -> dict[str, str]:
    """Sizes and weights of a tree in words, as `validation.algorithms.tree` reads them."""
    if made.children is None:
        return {"sizes": "/".join(map(str, made.tree))}
    found = {"sizes": "/".join(",".join(map(str, tier)) for tier in made.sizes)}
    return found if made.counted is None else {**found, "weights": ",".join(map(str, made.counted))}


def _trees(made: Supplied, wanted: Wanted) -> tuple[dict[str, Topology], dict[str, tuple[str, ...]], tuple[int, ...]]:
    """The topologies that race, which of them are one algorithm, and passes of every tier."""
    sizes, depth, known = made.tree, made.depth, all_topologies(made.depth)
    if unknown := [name for name in wanted.topologies if name not in known]:
        raise ScenarioError(f"--topology: {unknown[0]!a:.40} is none of this tree. Known are {', '.join(known)}.")
    below = (1,) * (depth - 1 - len(wanted.passes)) + wanted.passes
    if len(below) != depth - 1:
        raise ScenarioError(f"-P: {len(wanted.passes)} numbers for {depth - 1} tiers below the top one.")
    drawn = wanted.drawn
    if drawn is not None and (len(drawn) != depth or any(a > b for a, b in zip(drawn, sizes, strict=True))):
        raise ScenarioError(f"--drawn: {_joined(drawn)} does not fit a tree of {_joined(sizes)}, top tier first.")
    reference = next(iter(known))
    chosen = [name for name in known if not wanted.topologies or name in (reference, *wanted.topologies)]
    how: dict[str, Any] = {"drawn": drawn, "passes": (1, *below), "order": wanted.order, "children": made.children}
    trees = {name: known[name].sized(sizes, **how) for name in chosen}
    firsts: dict[Topology, str] = {}
    alike: dict[str, tuple[str, ...]] = {}
    for name, tree in trees.items():
        first = firsts.setdefault(tree.same_algorithm(), name)
        alike[first] = (*alike.get(first, ()), name)
    return {n: trees[n] for n in alike}, {n: names[1:] for n, names in alike.items()}, (1, *below)


def _beside(
    made: Supplied, taking_part: int, passes: tuple[int, ...], wanted: Wanted
) -> tuple[tuple[tuple[Racer, float], ...], dict[str, tuple[float, ...]]]:
    """Systems that race beside the trees, with the local steps that a round of each chains; and when servers step."""
    from validation.experiment import make_algorithm, part

    if wanted.beside is None:
        return (), {}
    fleet = Fleet(
        len(made.clients), taking_part, passes, wanted.local_steps, wanted.order, made.counted, tuple(made.sizes)
    )
    racers = wanted.beside(fleet)
    made_of = {one.id: make_algorithm(part(one.algorithm, **one.options)) for one in racers}
    updates = {one.id: made_of[one.id].updates(wanted.rounds) for one in racers if one.slowdowns}  # type: ignore[attr-defined]
    return tuple((one, made_of[one.id].local_steps_per_round()) for one in racers), updates


def _rates(made: Supplied, wanted: Wanted, chains: Mapping[str, float]) -> dict[str, tuple[float, ...]]:
    """The first grid of effective rates: those given, or around one over the curvature at the start."""
    if not isinstance(wanted.rates, int):
        return {name: tuple(sorted(rate * chain for rate in wanted.rates)) for name, chain in chains.items()}
    from validation.problems.supplied import steepness
    from validation.sweep import one_thread

    with one_thread():
        steep = steepness(made, wanted.measured)
    centre = 1.0 if steep is None else 2.0 ** round(-math.log2(steep))  # rough, so that it is the same everywhere
    grid = tuple(centre * FACTOR ** (i - wanted.rates // 2) for i in range(wanted.rates))
    return dict.fromkeys(chains, grid)


def _joined(numbers: Sequence[int] | None) -> str | None:
    return None if numbers is None else "/".join(map(str, numbers))
