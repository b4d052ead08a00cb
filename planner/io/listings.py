"""Answers that choose no topology: the shared keys, plain rows, and one part under the command's own name.

Each has a name here, which is that of its command with dashes and the middle of the id of its schema. Its own part is
under the name with underscores; a command whose rows say everything has none.

>>> found = listing("bounds-list", "1 of 2 bounds.", {"of": 2}, [{"id": "one"}])
>>> found, found.bounds_list["of"], found.to_json()["rows"]
(BoundsList('1 of 2 bounds.'), 2, [{'id': 'one'}])
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from planner.io.answers import Answer, Caution, NextStep, Status, Verdict
from planner.io.parts import field

OWN: Mapping[str, str] = {  # names of these answers, and what their own part is; nothing where they have none
    "audit": "whether all rows are as recorded, and a tally of verdicts by kind",
    "bounds-check": "how many checks failed, and of how many bounds",
    "bounds-compare": "both bounds, the exact condition, crossings, and values at the numbers given",
    "bounds-list": "of how many bounds",
    "bounds-plot": "bounds, quantity and range of the picture, and the files written",
    "bounds-show": "statement, source, assumptions, conditions, letters, misprints; with numbers value and step",
    "bounds-show-any": "the statement for trees of any depth, by part, and its result",
    "bounds-worst-case": "the case, its value, and how it was solved; the bound alone for stored cases",
    "compare-measured": "the plan that was run, what to correct, and the best topologies before and after",
    "estimate": "the run, how it was measured, and each constant with its interval",
    "explain": "",
    "export": "the project that was written: plan, target, files, rate, and price as planned and as run",
    "flip-map": "the phase diagram: axes, and by cell the first topology, its ties, and its amounts",
    "init": "the files that were written",
    "network": "what was asked, the network and the fleet; for links also the topology, its servers and orders",
    "picture": "kind of picture, and the files written",
    "pilot": "the race, as the pilot's file has it",
    "rerun": "whether the answer is the same, how numbers are rounded, and which inputs and software changed",
    "validate": "the machines that ran, and each claim with its verdict by every metric",
    "validate-export": "the store",
    "validate-list": "",
}
SHOWN = 100  # letters of a verdict in Python


class Listing(Answer):
    """An answer that chooses no topology."""

    rows: tuple[dict[str, Any], ...] = field(  # type: ignore[assignment]  # plain ones
        "with the same keys, in SI units", default=()
    )

    def records(self) -> list[dict[str, Any]]:
        """Return what ``--format csv`` writes: one flat mapping for each row, or what the page has in their place."""
        own = None if self.page is None else self.page.lines
        return super().records() if own is None else [dict(row) for row in own]

    def __repr__(self) -> str:
        text = textwrap.shorten(self.verdict.text, SHOWN, placeholder=" ...")
        return f"{type(self).__name__}({text!r})"


@cache
def class_of(name: str) -> type[Listing]:
    """Make the class of an answer of `OWN`, with a field for its own part."""
    said: dict[str, Any] = {"__annotations__": {"schema": str}, "schema": f"hfl-plan/{name}/2", "__module__": __name__}
    if OWN[name]:
        key = name.replace("-", "_")
        said |= {"__annotations__": {"schema": str, key: dict[str, Any]}, key: field(OWN[name], default_factory=dict)}
    return type(name.title().replace("-", ""), (Listing,), said)


def listing(
    name: str,
    text: str,
    own: Mapping[str, Any] | None = None,
    rows: Iterable[Mapping[str, Any]] = (),
    *,
    warnings: Iterable[str] = (),
    next: Iterable[str] = (),
    **shared: Any,
) -> Listing:
    """Make an answer that chooses no topology: one of `OWN`, with its verdict as a text.

    ``own`` is what no other command has, ``next`` are commands as they are typed. Of other ``shared`` keys ``status``
    and ``best`` are the verdict's.
    """
    status: Status = shared.pop("status", "measured")
    if own is not None:
        shared[name.replace("-", "_")] = dict(own)
    return class_of(name)(
        verdict=Verdict(status=status, best=tuple(shared.pop("best", ())), text=text),
        rows=tuple(map(dict, rows)),
        warnings=tuple(Caution(text=text) for text in warnings),
        next=tuple(NextStep(argv=tuple(shlex.split(line))) for line in next),
        **shared,
    )
