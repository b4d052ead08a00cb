"""What ``hfl-plan validate`` does: run the algorithms and say which predictions hold. A door to torch."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import NoAnswerError, ScenarioError
from planner.plot.claims import Line, Picture, draw

if TYPE_CHECKING:
    from validation.claims import Claim, Judgement
    from validation.store import Machine

SCHEMA = "hfl-plan/validation/1"


def listed() -> str:
    """Every claim: what it says, where, and what predicts it."""
    out = []
    for claim in _claims(()):
        out += [claim.id, f"  {claim.statement}", f"  Where: {claim.source}.", f"  Predicted by: {claim.prediction}."]
        out += [f"  Judged by: {claim.quantity}.", ""]
    return "\n".join(out)


def run(
    names: Sequence[str], size: str, store: Path, workers: int, engine: str, as_json: bool, device: str = "cpu"
) -> str:
    """Run claims and return the report.

    Raises:
        ScenarioError: for an unknown claim.
        NoAnswerError: if the runs cannot be made.
    """
    chosen = _claims(names)
    from validation.engine import ValidationError
    from validation.store import Store
    from validation.sweep import possible
    from validation.sweep import run as sweep

    begun = time.monotonic()
    try:
        possible(workers, engine, device)
        with Store(store) as there:
            there.note("claims", json.dumps([claim.id for claim in chosen]))
            there.note("size", size)
        how = {"workers": workers, "engine": engine, "device": device}
        judged = sweep(chosen, size, store, progress=_Progress(), **how)  # type: ignore[arg-type]
        with Store(store) as there:
            machines = there.machines()
    except ValidationError as error:
        raise NoAnswerError(str(error)) from None
    told = f"{len(judged)} claims, {size}, in {time.monotonic() - begun:.0f} s; results in {store}."
    return _shown(chosen, judged, machines, told, as_json)


def resume(store: Path, workers: int, engine: str, as_json: bool, device: str = "cpu") -> str:
    """Go on with what a store was made for.

    Raises:
        NoAnswerError: if the store is not there or says nothing of what it was made for.
    """
    names, size = _noted(store)
    return run(names, size, store, workers, engine, as_json, device)


def report(store: Path, as_json: bool, pictures: Path | None = None) -> str:
    """What a store supports, without running anything; with a picture of every claim in a folder, if one is named.

    It tells of the claims that were asked for last, and of any other that the store has all cells of.

    Raises:
        NoAnswerError: if the store is not there or cannot be read, or the pictures cannot be drawn.
    """
    names, size = _noted(store)
    every = _claims(())
    from validation.engine import ValidationError
    from validation.store import Store
    from validation.sweep import judge

    try:
        judged = judge(every, size, store)  # type: ignore[arg-type]
        with Store(store) as there:
            machines = there.machines()
    except ValidationError as error:
        raise NoAnswerError(str(error)) from None
    chosen = [claim for claim in every if claim.id in judged or claim.id in names]
    told = f"{len(judged)} of {len(chosen)} claims are finished ({size})."
    if len(judged) < len(chosen):
        told += " `hfl-plan validate resume` runs the rest."
    if pictures is not None:
        files = draw([_picture(claim, judged[claim.id]) for claim in chosen if claim.id in judged], pictures)
        told += f" {len(files)} files are in {pictures}."
    return _shown(chosen, judged, machines, told, as_json)


def _claims(names: Sequence[str]) -> list[Claim]:
    if importlib.util.find_spec("torch") is None:
        raise NoAnswerError("validate: torch is not installed. Install hfl-plan[validation].")
    from validation.claims import claims

    known = claims()
    for name in names:
        if name not in known:
            near = " or ".join(get_close_matches(name, known))
            raise ScenarioError(
                f"no claim is called {name!a:.60}{f'; perhaps {near}' if near else ''}. "
                "`hfl-plan validate list` has them all."
            )
    return [known[name] for name in names] if names else list(known.values())


def _noted(store: Path) -> tuple[list[str], str]:
    if not store.exists():
        raise NoAnswerError(f"{store} does not exist. `hfl-plan validate run` makes it.")
    _claims(())
    from validation.engine import ValidationError
    from validation.store import Store

    try:
        with Store(store) as there:
            names, size = there.noted("claims"), there.noted("size")
    except ValidationError as error:
        raise NoAnswerError(str(error)) from None
    if names is None or size is None:
        raise NoAnswerError(f"{store} does not say what it was made for. `hfl-plan validate run --store {store}` does.")
    return json.loads(names), size


class _Progress:
    """Cells done and the time that the rest of this stage will take, on stderr, where somebody looks."""

    def __init__(self) -> None:
        self.quiet = sys.stderr is None or not sys.stderr.isatty()

    def __call__(self, done: int, known: int, each: float) -> None:
        if self.quiet or sys.stderr is None:
            return
        left = "" if math.isnan(each) else f", about {each * (known - done):.0f} s left of this stage"
        sys.stderr.write(f"\r{done} of {known} cells{left}          ")
        if done == known:
            sys.stderr.write("\r" + " " * 70 + "\r")
        sys.stderr.flush()


def _shown(
    chosen: Sequence[Claim],
    judged: Mapping[str, Judgement],
    machines: Sequence[Machine],
    told: str,
    as_json: bool,
) -> str:
    if as_json:
        return json.dumps(_document(chosen, judged, machines), indent=1, allow_nan=False) + "\n"
    out = []
    for claim in chosen:
        if claim.id not in judged:
            out += [f"{claim.id}: not finished", ""]
            continue
        found = judged[claim.id]
        out += [f"{claim.id}: {found.verdict}", f"  {claim.statement}", f"  {found.note}"]
        wide = max((len(row.setting) for row in found.rows), default=0)
        also = max((len(row.compared) for row in found.rows), default=0)
        for row in found.rows:
            numbers = f"{row.ratio.estimate:7.3f} [{row.ratio.low:.3f}, {row.ratio.high:.3f}]"
            out.append(f"    {row.setting:{wide}}  {row.compared:{also}}  {numbers:25}  {row.predicted}: {row.verdict}")
        out.append("")
    verdicts = Counter(found.verdict for found in judged.values())
    out += [f"{verdicts['holds']} claims hold, {verdicts['fails']} fail, {verdicts['cannot tell']} cannot be told."]
    return "\n".join([*out, *map(_where, machines), told]) + "\n"


def _where(machine: Machine) -> str:
    """Where some of a store's cells were run, in a line; an older store does not say."""
    said = f"{machine.cells} cells of the store took {machine.seconds:.0f} s"
    if machine.processor_seconds is not None:
        said += f" ({machine.processor_seconds:.0f} s of processors)"
    if machine.device is not None:
        said += f" on {machine.device}, PyTorch {machine.torch}, threads: {machine.threads}, {machine.processor}"
    return f"{said}."


def _document(chosen: Sequence[Claim], judged: Mapping[str, Judgement], machines: Sequence[Machine]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "machines": [asdict(machine) for machine in machines],
        "claims": [
            {
                "id": claim.id,
                "source": claim.source,
                "statement": claim.statement,
                "prediction": claim.prediction,
                "quantity": claim.quantity,
                "verdict": judged[claim.id].verdict if claim.id in judged else None,
                "note": judged[claim.id].note if claim.id in judged else "not finished",
                "rows": [
                    {
                        "setting": row.setting,
                        "compared": row.compared,
                        "measure": row.measure,
                        "ratio": _number(row.ratio.estimate),
                        "low": _number(row.ratio.low),
                        "high": _number(row.ratio.high),
                        "pairs": row.ratio.count,
                        "predicted": row.predicted,
                        "verdict": row.verdict,
                    }
                    for row in (judged[claim.id].rows if claim.id in judged else ())
                ],
            }
            for claim in chosen
        ],
    }


def _picture(claim: Claim, found: Judgement) -> Picture:
    lines = tuple(
        Line(
            row.setting,
            row.compared,
            row.measure,
            row.ratio.estimate,
            row.ratio.low,
            row.ratio.high,
            row.ratio.count,
            row.predicted,
            row.verdict,
            row.margin,
        )
        for row in found.rows
    )
    return Picture(claim.id, claim.statement, found.verdict, lines)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
