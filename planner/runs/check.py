"""Whether a run gives the same answer again: bit for bit, or to a relative tolerance where numbers round otherwise."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.errors import ScenarioError
from planner.io.json_documents import canonical
from planner.runs import manifest
from planner.runs.manifest import Manifest

TOLERANCE = 1e-9  # relative difference of numbers that are the same
UNASKED = ("version", "command")  # of hfl-plan, and how it was called: no part of what is answered
SAID = ("rank", "round_seconds", "round_bytes", "rounds", "rate_predicted_raw", "why")  # of a topology, that is run


@dataclass(frozen=True, slots=True)
class Place:
    """A place at which two documents differ; None where nothing is."""

    at: str  # keys and indices, such as ``rows[0].rounds.value``
    then: Any
    now: Any
    relative: float  # difference of two numbers over the larger of them; infinite for anything else


@dataclass(frozen=True, slots=True)
class Check:
    """What came out again."""

    run: Manifest  # manifest of the run
    tolerance: float  # relative difference of numbers that are the same
    exact: bool  # whether the answer is the same bit for bit
    differences: tuple[Place, ...]  # places that differ by more than the tolerance
    rounding: tuple[Place, ...]  # places that differ by less
    software: Mapping[str, tuple[str, str]]  # versions that changed, by name: then and now

    @property
    def same(self) -> bool:
        """Whether the answer is the same to the tolerance."""
        return not self.differences


def check(path: Path, tolerance: float = TOLERANCE) -> Check:
    """Answer the scenario of a manifest again, and compare to a relative tolerance; 0 asks for the same bits.

    Raises:
        ScenarioError: For a file that is no manifest, or a scenario that can no longer be read.
        NoAnswerError: For a manifest that was edited, or where there is no answer now.
    """
    run = manifest.open_manifest(path)
    now = json.loads(json.dumps(recommend(manifest.scenario_of(run, path)).to_json()))
    found = [place for place in places(run.answer, now) if not place.at.startswith(UNASKED)]
    here, then = manifest.software(), run.software.to_json()
    return Check(
        run=run,
        tolerance=tolerance,
        exact=manifest.hash_of(now) == run.answer_sha256,
        differences=tuple(place for place in found if place.relative > tolerance),
        rounding=tuple(place for place in found if place.relative <= tolerance),
        software={name: (was, here[name]) for name, was in then.items() if was != here[name]},
    )


def unchanged(saved: Recommendation, now: Recommendation) -> None:
    """Refuse an answer whose scenario no longer gives what it says of its topologies."""
    then, here = (
        {row.id: {name: row.to_json()[name] for name in SAID} for row in one.rows if not row.baseline}
        for one in (saved, now)
    )
    far = (place for place in places(then, here) if place.relative > TOLERANCE)
    if (found := next(far, None)) is not None:
        raise ScenarioError(
            f"{found.at}: the saved answer says {found.then}, and the scenario gives {found.now} now. A file that it "
            "names has changed, or hfl-plan. Ask anew: `hfl-plan recommend`."
        )


def places(then: Any, now: Any, at: str = "") -> Iterator[Place]:
    """Find the places at which two documents differ."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*now, *then)):  # a manifest's keys are sorted, an answer's are not
            yield from places(then.get(key), now.get(key), f"{at}.{key}" if at else key)
    elif isinstance(then, list) and isinstance(now, list):
        for i in range(max(len(then), len(now))):
            before, after = (part[i] if i < len(part) else None for part in (then, now))
            yield from places(before, after, f"{at}[{i}]")
    elif canonical(then) != canonical(now):
        yield Place(at, then, now, _relative(then, now))


def _relative(then: Any, now: Any) -> float:
    numbers = [x for x in (then, now) if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) < 2:
        return math.inf
    return float(abs(then - now) / max(abs(then), abs(now))) if then != now else 0.0
