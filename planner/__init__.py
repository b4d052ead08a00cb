"""From what a user knows to a ranked, explained, honest choice of topology.

>>> import planner
>>> planner.recommend(G=10, M=10, heterogeneity="inter", link_sharing="per-client")
Recommendation(best='star-star', objective='time', vs_next=1.8, confidence=0.84)

`planner.load_scenario` reads a scenario once, `planner.Recommendation` is what comes out: a value that can be saved,
loaded and compared. Whatever is refused is a `planner.PlannerError`. Importing this imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from planner.errors import NoAnswerError, PlannerError, ScenarioError

if TYPE_CHECKING:
    from planner.data.pilot import Pilot
    from planner.decide.recommendation import Recommendation
    from planner.scenario.resolve import Scenario

__all__ = [
    "NoAnswerError",
    "PlannerError",
    "Recommendation",
    "Scenario",
    "ScenarioError",
    "load_scenario",
    "pilot",
    "recommend",
    "version",
]

Config = str | Path | Mapping[str, Any]


def load_scenario(config: Config | None = None, settings: Mapping[str, Any] | None = None, **options: Any) -> Scenario:
    """Read a scenario from a file, a table or options; options win.

    Args:
        config: A TOML file, or the tables of one: ``{"fleet": {"groups": 10}}``.
        settings: Any key of a scenario: ``{"network.server_link.up": "1Gbit/s"}``.
        options: The long options of ``hfl-plan recommend`` with underscores, or their letters: ``groups=10`` or
            ``G=10``, ``uplink="20Mbit/s"``. None is as if it was not given.

    Raises:
        TypeError: For an option there is not.
        ScenarioError: For what is no scenario.
    """
    from planner.families.scenario import load
    from planner.scenario.resolve import from_keywords

    return from_keywords(config, settings or {}, options, load)


def recommend(
    config: Config | Scenario | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    details: bool = True,
    **options: Any,
) -> Recommendation:
    """Rank the topologies for a scenario: what ``hfl-plan recommend`` answers, as a value.

    Args:
        config: A scenario, a TOML file, or the tables of one.
        settings: See `load_scenario`.
        details: Whether to work out what explains the order and says how sure it is. Without, ranking and ties are the
            same, in a few milliseconds: for programs that ask often, such as a slider.
        options: See `load_scenario`.

    Raises:
        TypeError: For an option there is not, or options beside a scenario that is made already.
        ScenarioError: For what is no scenario.
        NoAnswerError: If no topology reaches the target.
    """
    from planner.decide import rank

    _recommendation()
    if config is None or isinstance(config, str | Path | Mapping):
        return rank.recommend(load_scenario(config, settings, **options), details=details)
    if settings or options:
        raise TypeError("a scenario takes no options. Make it anew with planner.load_scenario(...).")
    return rank.recommend(config, details=details)


def pilot(  # reason: a keyword for each option of the command
    model: Any,
    clients: Any = None,
    *,
    loss: Callable[[Any, Any], Any] | None = None,
    test: tuple[Any, Any] | None = None,
    rounds: int = 8,
    metric: Literal["loss", "accuracy"] = "loss",
    within: str | None = None,
    local_steps: int = 2,
    group_rounds: int | str | None = None,
    drawn: str | None = None,
    order: Literal["fixed", "random"] = "fixed",
    topologies: Sequence[str] = (),
    systems: str = "trees",
    coverage: str | None = None,
    edges: int | None = None,
    rates: int | Sequence[float] = 7,
    seeds: int = 4,
    batch: int = 32,
    measured: int = 5000,
    seed: int = 0,
    output: str | Path | None = None,
    force: bool = False,
) -> Pilot:
    """Race the topologies for a few rounds: what ``hfl-plan pilot`` answers, as a value; needs torch.

    Args:
        model: A torch module where training starts, or the path of a hook file, which is run.
        clients: ``(group, X, y)`` of every client; a group may be a tuple of names for more tiers. None with a hook.
        loss: Of outputs and targets, a mean over samples; None for cross-entropy, or the mean squared error.
        test: Inputs and labels that nobody trains on, for accuracy.
        rounds: Global rounds that are compared.
        metric: What decides.
        within: Time that it may take, such as ``2min``.
        local_steps: Of a client between two averagings.
        group_rounds: Group rounds in a global round; ``"2/3"`` for deeper trees.
        drawn: Who takes part each round, top tier first, such as ``"5/10"``.
        order: Of rings.
        topologies: Ids of those that race, ``["star-ring"]``; the first of all is always among them.
        systems: What races, ``"trees,one-tier,hhfl,hsl,gossip"``; trees always.
        coverage: For hhfl: a file, or a layout in words.
        edges: For hsl and gossip: models sent over an edge in a round, in all.
        rates: How many rates the first grid has, or raw rates.
        seeds: Of the noise, for the comparison.
        batch: Samples of a mini-batch.
        measured: At most so many samples are measured on.
        seed: Of every random draw.
        output: Where to write the pilot; the file beside it with ``.runs`` at the end is what a stopped race goes on
            from.
        force: Whether to overwrite it.

    Raises:
        ScenarioError: For what cannot be meant.
        NoAnswerError: If nothing can be raced, such as a loss that is no number.
    """
    from planner.families import raced
    from planner.harness.pilot import Wanted
    from planner.io import atomic
    from planner.report.answers import pilot as answers

    wanted = answers.checked(
        Wanted(
            rounds=rounds,
            rates=rates if isinstance(rates, int) else answers.rates(",".join(map(repr, rates))),
            seeds=seeds,
            metric=metric,
            within=answers.within(within),
            local_steps=local_steps,
            passes=answers.counts(None if group_rounds is None else str(group_rounds), "group_rounds"),
            drawn=answers.counts(drawn, "drawn") or None,
            order=order,
            batch=batch,
            measured=measured,
            topologies=tuple(topologies),
            seed=seed,
            beside=raced.read(systems, coverage, None if edges is None else str(edges)).racers,
        )
    )
    given = Path(model) if isinstance(model, str | Path) else (model, clients, loss, test)
    found = answers.raced(given, wanted, answers.Output(None if output is None else Path(output), force))
    if output is not None:
        atomic.write(output, found.text(), force)
    return found


def version() -> str:
    """Return the version of this package, as installed."""
    from planner.io.version import version as installed

    return installed()


def _recommendation() -> type[Recommendation]:
    """Import the answer, with what compares it to another, from the layers above it."""
    from planner.decide.recommendation import Recommendation
    from planner.runs.difference import difference

    _showing()
    Recommendation.compared = staticmethod(difference)
    return Recommendation


def _showing() -> None:
    """Tell answers how they are shown, by the layer above them."""
    from planner.io.answers import Answer
    from planner.report import shown

    Answer.shown = staticmethod(shown)


def __getattr__(name: str) -> Any:
    """Import the two classes when they are asked for."""
    if name == "Recommendation":
        return _recommendation()
    if name == "Scenario":
        from planner.scenario.resolve import Scenario

        return Scenario
    raise AttributeError(f"module 'planner' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
