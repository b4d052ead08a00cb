"""What ``hfl-plan estimate`` does: run a hook file, measure, and say what was found. A door to torch."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import json
import math
import os
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.data.profile import Constants, Profile, Range, Sizes
from planner.errors import NoAnswerError, ScenarioError
from planner.harness import need
from planner.harness.estimate import measured, seed_torch
from planner.io.atomic import write
from planner.io.progress import progress

if TYPE_CHECKING:
    from planner.harness.estimate import Estimated, Interval, Partitioned

SCHEMA = "hfl-plan/estimate/1"
LARGEST_HOOK = 1 << 20  # bytes
SIZES = ("L", "sigma", "zeta", "delta")
NAME = "hfl_plan_hook"  # of the module that a hook becomes


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to measure: the samples of a mini-batch in ``batch``, all else as of `validation.estimate.estimate`."""

    steps: int
    rate: float | None
    batch: int
    local_steps: int
    points: int
    gradients: str
    batches: int | None
    curved: int
    seed: int

    def check(self) -> None:
        """Refuse options that cannot be meant.

        Raises:
            ScenarioError: naming the option.
        """
        if self.gradients not in ("full", "batches"):
            raise ScenarioError(f"--gradients: {self.gradients!a:.40} is not one of full, batches.")
        if self.gradients == "batches" and self.batches is not None and self.batches < 3:
            raise ScenarioError(f"--batches: {self.batches} is too few to take noise out. Give at least 3.")
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            raise ScenarioError(f"--rate: {self.rate} must be a finite number above 0. Write --rate 0.1.")


def estimated(hook: Path, wanted: Wanted, output: Path | None, gram: Path | None, *, force: bool, as_json: bool) -> str:
    """Measure the constants of the model and the data of a hook.

    Args:
        hook: file to run.
        wanted: how to measure.
        output: where the profile is written; None for nowhere.
        gram: where inner products of class gradients are written.
        force: whether to overwrite these.
        as_json: whether to answer in JSON.

    Raises:
        ScenarioError: for options that cannot be meant, and a file that is no hook.
        NoAnswerError: if nothing can be measured, or the answer cannot be written.
    """
    wanted.check()
    if output is not None and gram is not None and output.absolute() == gram.absolute():
        raise ScenarioError("--gram: is the file of --output. Give two.")
    for option, path in (("--output", output), ("--gram", gram)):
        if path is not None and not force and os.path.lexists(path):
            raise ScenarioError(f"{option}: {str(path)!a:.120} exists. Add --force to overwrite it.")
    source = _source(hook)
    need("estimate", "torch", "scipy")
    with _running(hook):
        seed_torch(wanted.seed)
        module = _module(hook, source)
        loss = getattr(module, "loss", None)
        if loss is not None and not callable(loss):
            raise ScenarioError(f"{hook}: loss is no function. Write def loss(outputs, targets): ...")
        model, clients = _called(hook, module, "model"), _called(hook, module, "clients")
        losses, found = measured(
            str(hook), model, clients, loss, **asdict(wanted), progress=lambda what: progress(what and f"{what} ...")
        )
    if gram is not None and not found.labels:
        raise NoAnswerError("--gram: there are no labels: targets are not whole numbers, or they are all equal.")
    if gram is not None and found.points[0].gram is None:
        raise NoAnswerError("--gram: gradients of all labels do not fit in memory. Give a smaller model.")
    notes = _notes(losses, found)
    if output is not None:
        write(output, _profile(losses, found, notes).text(), force)
    if gram is not None:
        write(gram, _gram(found), force, "--gram")
    document = _document(hook, losses, found, notes)
    if as_json:
        return json.dumps(document, indent=1, allow_nan=False) + "\n"
    return _page(document, losses, found, output, gram)


# ---------------------------------------------------------------- the hook


def _source(hook: Path) -> bytes:
    if hook.suffix != ".py":
        raise ScenarioError(f"{str(hook)!a:.120} is not a Python file. Name one that ends in .py.")
    try:
        if not hook.is_file():
            reason = "it is no file" if hook.exists() else "there is none"
            raise ScenarioError(f"{str(hook)!a:.120} cannot be read: {reason}. Check the path.")
        with hook.open("rb") as stream:
            source = stream.read(LARGEST_HOOK + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such name"
        raise ScenarioError(f"{str(hook)!a:.120} cannot be read ({reason}). Check the path.") from None
    if len(source) > LARGEST_HOOK:
        raise ScenarioError(f"{hook}: is over 1 MiB, which no hook is. Let it load the data from where they are.")
    return source


def _module(hook: Path, source: bytes) -> types.ModuleType:
    """The hook, run; no bytecode is written beside it."""
    loader = SourceFileLoader(NAME, str(hook))
    made = importlib.util.module_from_spec(ModuleSpec(NAME, loader, origin=str(hook)))
    made.__file__ = str(hook)
    sys.modules[NAME] = made
    try:
        code = loader.source_to_code(source, str(hook))
    except (SyntaxError, ValueError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        told = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ScenarioError(f"{hook}: is not Python{line}: {told:.160}.") from None
    with _blamed(hook, "running it"):
        exec(code, made.__dict__)  # noqa: S102  (the user names the file to be run)
    for name in ("model", "clients"):
        if not callable(getattr(made, name, None)):
            raise ScenarioError(
                f"{hook}: has no function {name}(). A hook has model() -> nn.Module and clients() -> [(group, X, y)]."
            )
    return made


def _called(hook: Path, module: types.ModuleType, name: str) -> object:
    with _blamed(hook, f"{name}()"):
        return getattr(module, name)()


@contextlib.contextmanager
def _blamed(hook: Path, what: str) -> Iterator[None]:
    """An error of the user's code, in one line with its place."""
    try:
        yield
    except (Exception, SystemExit) as error:
        line, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(hook):
                line = trace.tb_lineno
            trace = trace.tb_next
        where = f" at line {line}" if line else ""
        told = (str(error).strip().splitlines() or [""])[0]
        raise ScenarioError(f"{hook}: {what} failed{where}: {type(error).__name__}: {told:.160}") from None


@contextlib.contextmanager
def _running(hook: Path) -> Iterator[None]:
    """As `python HOOK.py` has it: its folder is searched for modules. What it prints goes to standard error."""
    folder, written = str(hook.absolute().parent), sys.dont_write_bytecode
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.dont_write_bytecode = written
        sys.modules.pop(NAME, None)
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


# ---------------------------------------------------------------- answers


def _notes(losses: Partitioned, found: Estimated) -> list[str]:
    """What the numbers are not."""
    sizes, zeta, delta = _sizes(found), found.largest("zeta").estimate, found.largest("delta").estimate
    out = [
        f"Assumptions speak of all parameters; these are {_points(found)}, so L, sigma, zeta and "
        "delta are lower estimates of what is assumed.",
        f"L is the largest of {len(found.curved)} of {len(found.groups)} clients.",
        f"sigma is of mini-batches of {losses.size} drawn with replacement, and a mean over clients; sigma^2 is "
        "inversely proportional to their size.",
        "A is the loss at the start minus the lowest loss seen: F(x0) - F* is not smaller."
        if found.A.estimate
        else "No loss was below that at the start, so A is not known. Give more --steps, or another --rate.",
    ]
    last = found.points[-1].L
    if any(point.L.high > 1.2 * point.L.estimate for point in found.points):
        out.append(f"The curvature is not settled: at the end it is from {last.estimate:.3g} to {last.high:.3g}.")
    start = found.points[0]
    chances = losses.by_chance(start.sigma2.estimate)
    for name, chance, seen in zip(("zeta", "delta"), chances, (start.zeta2, start.delta2), strict=True):
        if chance > 0.1 * seen.estimate:
            out.append(
                f"Of the {name} at the start, {math.sqrt(seen.estimate):.3g}, chance alone makes about "
                f"{math.sqrt(chance):.3g}: so much have clients with samples of one distribution, of these sizes."
            )
    out += losses.cautions()
    if len(sizes) == 1:
        out.append("There is one group, so delta is 0.")
    if max(sizes) == 1:
        out.append("Every group has one client, so zeta is 0.")
    if min(sizes) != max(sizes):
        out.append(
            f"Groups have {min(sizes)} to {max(sizes)} clients; every group counts the same, as in the theorems."
        )
    if found.labels and found.points[0].gram is None:
        out.append("Gradients of all labels do not fit in memory: what label shares explain is not known.")
    explained = _explained(found)
    if explained is not None and zeta + delta > 0 and min(explained) < 0.5:
        out.append(
            f"Label shares alone would make {min(explained):.0%} to {max(explained):.0%} of zeta^2 + delta^2: clients "
            "differ in more than their labels, and label counts do not show it."
        )
    return out


def _explained(found: Estimated) -> list[float] | None:
    """Which part of the heterogeneity label shares alone would make, at each point."""
    out = []
    for point in found.points:
        whole = point.zeta2.estimate + point.delta2.estimate
        if point.label_zeta2 is None or point.label_delta2 is None or whole <= 0:
            return None
        out.append((point.label_zeta2 + point.label_delta2) / whole)
    return out


def _points(found: Estimated) -> str:
    count = len(found.points)
    return f"{count} points of one run" if count > 1 else "numbers at the start alone"


def _sizes(found: Estimated) -> list[int]:
    return [found.groups.count(group) for group in range(max(found.groups) + 1)]


def _profile(losses: Partitioned, found: Estimated, notes: Sequence[str]) -> Profile:
    sizes = _sizes(found)
    zeta2, delta2 = (_squared(found.largest(name)) for name in ("zeta", "delta"))
    ratio = Range(value=None)
    if delta2.value:
        lows = [p.zeta2.low / p.delta2.high if p.delta2.high else 0.0 for p in found.points]
        highs = [p.zeta2.high / p.delta2.low if p.delta2.low else math.inf for p in found.points]
        ratio = Range(value=(zeta2.value or 0.0) / delta2.value, low=min(lows), high=_finite(max(highs)))
    changes = [
        f"{name} was from {found.smallest(name).estimate:.3g} to {found.largest(name).estimate:.3g}" for name in SIZES
    ]
    run = f"In {found.steps} steps of each client at rate {found.rate:.3g}, {', '.join(changes)}; "
    run += "the largest are given, and the ratio's interval is of the whole run."
    return Profile(
        made_from="gradients",
        unit="gradients",
        groups=len(sizes),
        clients=len(found.groups),
        clients_per_group=Sizes(mean=len(found.groups) / len(sizes), least=min(sizes), most=max(sizes)),
        labels=len(found.labels) or None,
        weighting="groups",
        level=found.level,
        zeta2=zeta2,
        delta2=delta2,
        ratio=ratio,
        constants=Constants(
            sigma=_range(found.largest("sigma")),
            L=_range(found.largest("L")),
            A=_range(found.A) if found.A.estimate else None,
        ),
        warnings=[run, *notes],
    )


def _range(seen: Interval) -> Range:
    return Range(value=seen.estimate, low=max(seen.low, 0.0), high=_finite(seen.high))


def _squared(seen: Interval) -> Range:
    return Range(value=seen.estimate**2, low=seen.low**2, high=seen.high**2)


def _gram(found: Estimated) -> str:
    """Inner products of class gradients where clients differ most, as `measure --gram` reads them."""
    most = max(found.points, key=lambda point: point.zeta2.estimate + point.delta2.estimate)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["label", *found.labels])
    rows.writerows([label, *map(repr, row)] for label, row in zip(found.labels, most.gram or (), strict=True))
    return text.getvalue()


def _document(hook: Path, losses: Partitioned, found: Estimated, notes: Sequence[str]) -> dict[str, Any]:
    sizes = _sizes(found)
    return {
        "schema": SCHEMA,
        "hook": str(hook),
        "groups": len(sizes),
        "clients": len(found.groups),
        "clients_per_group": {"mean": len(found.groups) / len(sizes), "least": min(sizes), "most": max(sizes)},
        "labels": list(found.labels),
        "parameters": len(losses.start()),
        "run": {
            "topology": "star-star",
            "rate": found.rate,
            "steps": found.steps,
            "local_steps": found.local_steps,
            "batch": losses.size,
            "seed": found.seed,
        },
        "measured_with": {
            "gradients": found.gradients,
            "batches": found.batches,
            "curvature_clients": len(found.curved),
            "level": found.level,
        },
        "A": _interval(found.A),
        **{
            name: {"largest": _interval(found.largest(name)), "smallest": _interval(found.smallest(name))}
            for name in SIZES
        },
        "points": [
            {
                "step": point.step,
                "loss": point.loss,
                **{name: _interval(point.of(name)) for name in SIZES},
                "gradient": _interval(point.of("gradient")),
                "from_label_shares": None
                if point.label_zeta2 is None or point.label_delta2 is None
                else {"zeta": math.sqrt(point.label_zeta2), "delta": math.sqrt(point.label_delta2)},
                "by_chance": {
                    name: math.sqrt(part)
                    for name, part in zip(("zeta", "delta"), losses.by_chance(point.sigma2.estimate), strict=True)
                },
                "gram": point.gram,
            }
            for point in found.points
        ],
        "notes": list(notes),
    }


def _interval(seen: Interval) -> dict[str, float | None]:
    return {"value": seen.estimate, "low": seen.low, "high": _finite(seen.high)}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _page(
    document: dict[str, Any], losses: Partitioned, found: Estimated, output: Path | None, gram: Path | None
) -> str:
    sizes = _sizes(found)
    labels = f", {len(found.labels)} labels" if found.labels else ""
    out = [
        f"{document['clients']} clients in {len(sizes)} groups, {document['parameters']} parameters{labels}",
        f"Star-Star, {found.steps} local steps of each client, averaged after every {found.local_steps}, rate "
        f"{found.rate:.3g}, batches of {losses.size}",
        "",
    ]
    rows: list[Sequence[str]] = [("after steps", "loss", "L", "sigma", "zeta (intra)", "delta (inter)", "gradient")]
    for point in found.points:
        rows.append((str(point.step), f"{point.loss:.4g}", *(_shown(point.of(name)) for name in (*SIZES, "gradient"))))
    rows.append(("largest", "", *(_shown(found.largest(name)) for name in SIZES), ""))
    out += _columns(rows)
    low = f", at most {found.A.high:.3g} as losses are not negative" if math.isfinite(found.A.high) else ""
    explained = _explained(found)
    if explained is not None:
        out += ["", f"Label shares alone would make {min(explained):.0%} to {max(explained):.0%} of zeta^2 + delta^2"]
    out += [
        f"A at least {found.A.estimate:.3g}{low}",
        f"Intervals hold with {found.level:.0%}, at all points together"
        + ("; zeta and delta are exact at these points" if found.gradients == "full" else ""),
        "",
        "What these are not",
        *(f"  {note}" for note in document["notes"]),
        "",
    ]
    if output is not None:
        out.append(f"Profile: {output}; `hfl-plan recommend --heterogeneity {output}` takes it")
    else:
        L, sigma, zeta, delta = (f"{found.largest(name).estimate:.4g}" for name in SIZES)
        gap = f"--initial-gap {found.A.estimate:.4g} " if found.A.estimate else ""
        out.append(f"hfl-plan recommend --L {L} --sigma {sigma} {gap}--heterogeneity zeta={zeta},delta={delta} ...")
    if gram is not None:
        out.append(f"Inner products of class gradients: {gram}; `hfl-plan measure COUNTS.csv --gram {gram}` takes them")
    return "\n".join(out) + "\n"


def _shown(seen: Interval) -> str:
    if seen.high - seen.low <= 1e-9 * seen.high:
        return f"{seen.estimate:.3g}"
    return str(seen)


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(w) for text, w in zip(row, wide, strict=True)).rstrip() for row in rows]
