"""From what a user knows to a ranked, explained, honest choice of topology.

>>> import planner
>>> planner.recommend(G=10, M=10, heterogeneity="inter", link_sharing="per-server", details=False)
Recommendation(best='star-ring', objective='time', vs_next=2.9, confidence=0.95)

Every command of ``hfl-plan`` is a function here, with its options as keywords: ``planner.measure(counts)``,
``planner.flip(groups=10, ...)``, ``planner.bounds.show("hflbounds.exact.star-star")``; ``async`` is `async_`. What
reads a CSV file reads a data frame of pandas or polars. Results show themselves: `str`, ``to_frame``, ``to_html``,
``to_json``, ``explain``, ``plot``, ``save``.

`planner.load_scenario` reads a scenario once, `planner.Recommendation` is what comes out: a value that can be saved
and loaded; `planner.compare` compares two files. Whatever is refused is a `planner.PlannerError`. Importing this
imports next to nothing.
"""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import NoAnswerError, PlannerError, ScenarioError
from planner.io.packages import Called

if TYPE_CHECKING:
    from planner.decide.recommendation import Recommendation
    from planner.io.answers import Answer
    from planner.io.frames import Frame
    from planner.scenario.keywords import Keyword
    from planner.scenario.resolve import Scenario
    from planner.serve.widget import WhatIf
    from planner.signatures import (
        async_,
        audit,
        bounds,
        compare,
        estimate,
        explain,
        flip,
        group,
        hubs,
        init,
        load_scenario,
        measure,
        overlap,
        picture,
        pilot,
        recommend,
        rerun,
        schema,
        tune,
        validate,
        what_if,
    )

__all__ = [
    "NoAnswerError",
    "PlannerError",
    "Recommendation",
    "Scenario",
    "ScenarioError",
    "async_",
    "audit",
    "bounds",
    "compare",
    "estimate",
    "explain",
    "flip",
    "group",
    "hubs",
    "init",
    "load_scenario",
    "measure",
    "overlap",
    "picture",
    "pilot",
    "recommend",
    "rerun",
    "schema",
    "tune",
    "validate",
    "version",
    "what_if",
]

Config = str | Path | Mapping[str, Any]
COMMANDS = frozenset(path.stem.rstrip("_") for path in (Path(__file__).parent / "cli" / "commands").glob("[a-z]*.py"))
"""Names of functions that are made when they are asked for."""
PACKAGES = frozenset({"export", "network", "serve"})  # of these names, which are functions, too


def _load_scenario(config: Config | None = None, settings: Mapping[str, Any] | None = None, **options: Any) -> Scenario:
    """Read a scenario from a file, a table or options; options win.

    Args:
        config: A TOML file, or the tables of one: ``{"fleet": {"groups": 10}}``.
        settings: Any key of a scenario: ``{"network.server_link.up": "1Gbit/s"}``.
        options: The long options of ``hfl-plan recommend`` with underscores, or their letters; None says nothing.

    Returns:
        A `Scenario`.

    Raises:
        TypeError: For an option there is not.
        ScenarioError: For what is no scenario.
    """
    from dataclasses import replace

    from planner.families.scenario import load
    from planner.scenario.resolve import from_keywords

    call = _call("load_scenario", config, {"settings": settings, **options})
    return replace(from_keywords(config, settings or {}, options, load), call=call)


def _recommend(  # reason: a keyword for each option of the command
    config: Config | Scenario | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    details: bool = True,
    coverage: str | Path | Frame | None = None,
    edges: int | str | None = None,
    region_times: str | Sequence[str] | None = None,
    save: str | Path | None = None,
    output: str | Path | None = None,
    report: str | Path | None = None,
    force: bool = False,
    **options: Any,
) -> Recommendation:
    """Rank topologies by time, traffic or rounds to a target.

    Args:
        config: A scenario, a TOML file, or the tables of one.
        settings: Any key of a scenario: ``{"network.server_link.up": "1Gbit/s"}``.
        details: Whether to work out what explains the order and says how sure it is. Without, ranking, ties and
            one tier beside them are the same, in a few milliseconds: for programs that ask often, such as a slider.
        coverage: Coverage, a file or a layout in words, to compare HHFL.
        edges: Models sent in a round, in total, to compare HSL.
        region_times: Task time of each group, ``10s,12s,80s``, to compare HGA-FL.
        save: File for scenario, software and answer, for `rerun`.
        output: File of the answer; its suffix picks the format.
        report: File of a report to send, .html, with pictures.
        force: Whether to overwrite files.
        options: See `load_scenario`.

    Returns:
        A `Recommendation`.

    Raises:
        TypeError: For an option there is not, or options beside a scenario that is made already.
        ScenarioError: For what is no scenario.
        NoAnswerError: If no topology reaches the target.
    """
    if not isinstance(details, bool):
        raise TypeError(f"details: {details!a:.60} is not True or False")
    beside = {"coverage": coverage, "edges": edges, "region_times": region_times}
    beside |= {"save": save, "output": output, "report": report}
    if any(value is not None for value in beside.values()):
        found: Recommendation = _function("recommend")(config, settings=settings, **beside, force=force, **options)
        return found
    from planner.decide import rank
    from planner.report.pictures import of_recommendation
    from planner.scenario.resolve import Scenario

    _recommendation()
    if not isinstance(config, Scenario):
        scenario = _load_scenario(config, settings, **options)
    elif settings or options:
        raise TypeError("a scenario takes no options. Make it anew with planner.load_scenario(...).")
    else:
        scenario = config
    found = rank.recommend(scenario, details=details)
    if details and scenario.network.timer is not None:
        from planner.families.sited.timed import with_links

        found = with_links(found, scenario)
    if scenario.asked:
        found = found.replaced(command=(*found.command[:2], *scenario.asked))
    given = {"settings": settings, **options} if details else {"settings": settings, "details": False, **options}
    return found.keeping(plot=of_recommendation(lambda: scenario), call=_call("recommend", config, given))


def _pilot(
    model: Any = None,
    clients: Any = None,
    *,
    loss: Callable[[Any, Any], Any] | None = None,
    test: tuple[Any, Any] | None = None,
    topologies: Sequence[str] = (),
    **options: Any,
) -> Answer:
    """Race the topologies for a few rounds: what ``hfl-plan pilot`` answers, as a value; needs torch.

    Args:
        model: A torch module where training starts, or the path of a hook file, which is run.
        clients: ``(group, X, y)`` of every client; a group may be a tuple of names for more tiers. None with a hook.
        loss: Of outputs and targets, a mean over samples; None for cross-entropy, or the mean squared error.
        test: Inputs and labels that nobody trains on, for accuracy.
        topologies: The same as ``topology``.
        options: Those of the command.

    Returns:
        The answer; ``pilot`` is the race, and ``plot`` draws it.

    Raises:
        TypeError: For an option there is not.
        ScenarioError: For what cannot be meant.
        NoAnswerError: If nothing can be raced, such as a loss that is no number.
    """
    if topologies:
        named = options.get("topology") or ()
        options["topology"] = [*([named] if isinstance(named, str) else named), *topologies]
    return _on_a_model("pilot", (model, clients, loss, test), options)


def _estimate(
    model: Any, clients: Any = None, *, loss: Callable[[Any, Any], Any] | None = None, **options: Any
) -> Answer:
    """Estimate L, sigma, zeta, delta and A: what ``hfl-plan estimate`` answers, as a value; needs torch.

    Args:
        model: A torch module where training starts, or the path of a hook file, which is run.
        clients: ``(group, X, y)`` of every client; a group may be a tuple of names for more tiers. None with a hook.
        loss: Of outputs and targets, a mean over samples; None for cross-entropy, or the mean squared error.
        options: Those of the command.

    Returns:
        The answer, which `recommend` takes as ``heterogeneity``.

    Raises:
        TypeError: For an option there is not.
        ScenarioError: For what cannot be meant.
        NoAnswerError: If nothing can be measured.
    """
    return _on_a_model("estimate", (model, clients, loss, None), options)


def _on_a_model(name: str, handed: tuple[Any, Any, Any, Any], options: Mapping[str, Any]) -> Answer:
    """Call a command on a hook, or on what is handed over in its place."""
    from planner.harness.hooks import Handed

    model, *_ = handed
    hook = model if model is None or isinstance(model, str | Path) else Handed(*handed)
    found: Answer = _function(name)(hook, **options)
    return found


def _what_if(config: Config | None = None, settings: Mapping[str, Any] | None = None, **options: Any) -> WhatIf:
    """Show sliders over a scenario in a notebook, with the answer that follows them; needs ipywidgets.

    Args:
        config: A TOML file, or the tables of one.
        settings: Any key of a scenario: ``{"network.server_link.up": "1Gbit/s"}``.
        options: See `load_scenario`.

    Returns:
        What a notebook shows; ``scenario`` and ``toml()`` are the scenario as the sliders now have it.

    Raises:
        TypeError: For an option there is not.
        ScenarioError: For what is no scenario, or one that sliders do not show.
        NoAnswerError: If ipywidgets is not installed, or no topology reaches the target.
    """
    from planner.serve import widget

    return widget.what_if(config, settings or {}, options)


def version() -> str:
    """Return the version of this package, as installed."""
    from planner.io.version import version as installed

    return installed()


def _call(name: str, config: Any, given: Mapping[str, Any]) -> str:
    """Write the call of a function that takes a scenario."""
    from planner.io import calls

    return calls.call(name, () if config is None else (config,), given)


def _recommendation() -> type[Recommendation]:
    """Import the answer, and tell it how it is shown."""
    from planner.decide.recommendation import Recommendation

    _showing()
    return Recommendation


def _showing() -> None:
    """Tell answers how they are shown, by the layer above them."""
    from planner.io.answers import Answer
    from planner.report import shown

    Answer.shown = staticmethod(shown)


def _function(name: str) -> Any:
    """Return the function of a command."""
    from planner.cli import functions

    _showing()
    _recommendation()
    return functions.of(name)


def _options(name: str) -> Sequence[Keyword]:
    """Return the options of a command as keywords."""
    from planner.cli import functions

    return functions.options(name)


Called.function = staticmethod(_function)


def __getattr__(name: str) -> Any:
    """Import classes and functions when they are asked for."""
    if name in ("recommend", "load_scenario", "estimate", "pilot", "what_if"):
        from planner.scenario.keywords import expanded, of_scenarios

        function = globals()[f"_{name}"]
        function.__name__ = function.__qualname__ = name
        known = _options(name) if name in ("estimate", "pilot") else of_scenarios()
        return globals().setdefault(name, expanded(function, known))
    if name == "Recommendation":
        return _recommendation()
    if name == "__version__":
        return version()
    if name == "Scenario":
        from planner.scenario.resolve import Scenario

        return Scenario
    if name in PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name.rstrip("_") in COMMANDS:
        return globals().setdefault(name, _function(name))
    raise AttributeError(f"module 'planner' has no attribute {name!r}")


def __dir__() -> list[str]:
    names = {f"{name}_" if keyword.iskeyword(name) else name for name in COMMANDS - {"help"}}
    return sorted({*(name for name in globals() if name.startswith("__")), *names, *__all__})
