"""What the answers of other families of algorithms share: scenario, assumptions, evidence, warnings and details."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from planner.decide.explain import WORST, known_values
from planner.io.answers import Assumption, Caution, Quantity, Target
from planner.io.parts import Part
from planner.predict.evidence.claims import beginning, evidence
from planner.scenario.resolve import Scenario

CLOCK = ("client_link.up", "client_link.down", "server_link.up", "server_link.down", "model_size", "step_time")
"""What times stand on; of it, the size of the model alone where times are given."""


class Method(Part):
    """One way to run the algorithm, to the common target."""

    id: str
    title: str
    rounds: Quantity | None = None
    time_seconds: Quantity | None = None
    traffic_bytes: Quantity | None = None


def parts(
    scenario: Scenario,
    claims: str,
    assumed: Iterable[str],
    warnings: Iterable[str],
    details: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """Return the shared parts of an answer, by name.

    ``claims`` are what the ids of claims on record begin with. Of symbols ``assumed`` those that were not given are
    listed. Details are sentences of ``--explain``, by section; warnings and the record are added.
    """
    told = (*uncounted(scenario), *warnings)
    return {
        "scenario": known_values(scenario),
        "title": scenario.title,
        "assumptions": defaults(scenario, assumed),
        "evidence": evidence(claims),
        "warnings": tuple(Caution(text=text) for text in told),
        "details": {
            **{section: tuple(texts) for section, texts in details.items()},
            "record": tuple(map(str, beginning(claims))),
            "warnings": told,
        },
    }


def uncounted(scenario: Scenario) -> tuple[str, ...]:
    """Say of an answer that counts no absent devices that some are."""
    counted = scenario.availability is None or scenario.availability.steady(scenario.compute)
    return () if counted else ("Availability is not counted here: every device is there in time.",)


def defaults(scenario: Scenario, names: Iterable[str]) -> tuple[Assumption, ...]:
    """List those of some symbols that were not given."""
    known = ((name, scenario.known[name]) for name in names if name in scenario.known)
    return tuple(Assumption(key=name, value=one.value, unit=one.unit) for name, one in known if one.origin == "default")


def target(value: float | None, metric: str, defined_by: str = "", how: str = WORST) -> Target:
    """Say what all methods are to reach: what defines it, else how much it is; and what counts to it are."""
    said = defined_by or f"a {metric.removeprefix('mean ')} of {value:.3g}"
    return Target(value=value, metric=metric, defined_by=f"{said}; {how}")


def amounts(rounds: float | None, one: Any) -> dict[str, Quantity | None]:
    """Return rounds, ``seconds`` and ``bytes`` of a method to the target as a row has them, all predicted."""
    return {"rounds": guess(rounds), "time_seconds": guess(one.seconds), "traffic_bytes": guess(one.bytes)}


def guess(number: float | None) -> Quantity | None:
    """Mark a number as predicted; None stays so."""
    return None if number is None else Quantity(number)
