"""The shape that every answer has: one verdict, its rows, what it assumes, what would change it, and what to do next.

Keys of the JSON document and attributes in Python are the same. A command adds its own fields to `rows`, and one part
under its own name. Numbers are in SI units; shares are from 0 to 1. `planner.report` lays an answer out, and
`planner` tells answers how: data know no renderer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from planner.errors import ScenarioError
from planner.io import frames, json_documents
from planner.io.atomic import write
from planner.io.parts import Part, Rule, field
from planner.io.version import version
from planner.io.wording import input_words

NumberOrigin = Literal["given", "measured", "predicted", "assumed"]
ScenarioOrigin = Literal["given", "default", "estimated", "derived"]
Objective = Literal["time", "rounds", "traffic", "airtime", "energy", "carbon", "money"]
Status = Literal["best", "toss-up", "depends", "not-worth-it", "unreachable", "measured", "race-first"]
WEAK, FAIR = 0.6, 0.8  # share of cases that were right: weak below, good from there on
Text = Annotated[str, Rule(max_length=2000)]


class Quantity(float):
    """A number that says how far it is known and where it comes from; in calculations a plain number.

    Attributes:
        low, high: Ends of the interval; None where none is known, or where it has no upper end.
        level: Share of cases that the interval is expected to hold; None without one.
        origin: Given by you, measured, predicted or assumed.

    >>> hours = Quantity(8.1, "predicted", low=4, high=16, level=0.8)
    >>> hours.low, hours + 1
    (4.0, 9.1)
    """

    __slots__ = ("high", "level", "low", "origin")
    low: float | None
    high: float | None
    level: float | None
    origin: NumberOrigin

    def __new__(
        cls,
        value: float,
        origin: NumberOrigin = "predicted",
        low: float | None = None,
        high: float | None = None,
        level: float | None = None,
    ) -> Quantity:
        """Keep the number and what is known of it.

        Raises:
            ValueError: For a number that is not finite.
        """
        made = super().__new__(cls, value)
        made.origin = origin
        made.low, made.high, made.level = (None if n is None else float(n) for n in (low, high, level))
        if not all(math.isfinite(n) for n in (made, made.low, made.high, made.level) if n is not None):
            raise ValueError(f"{float(made)} [{made.low}, {made.high}] is not finite")
        return made

    def to_json(self) -> dict[str, Any]:
        """Return value, interval, level and origin."""
        return {"value": float(self), "low": self.low, "high": self.high, "level": self.level, "origin": self.origin}

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what makes it again, for copies."""
        return float(self), self.origin, self.low, self.high, self.level

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Read and describe the JSON object of `to_json`."""
        from pydantic_core import core_schema as core

        number = core.float_schema(allow_inf_nan=False)
        origins = core.literal_schema(list(NumberOrigin.__args__))  # type: ignore[attr-defined]
        keys = {"value": number, **dict.fromkeys(("low", "high", "level"), core.nullable_schema(number))}
        fields = {name: core.typed_dict_field(kind) for name, kind in {**keys, "origin": origins}.items()}
        return core.no_info_after_validator_function(
            lambda said: cls(said["value"], said["origin"], said["low"], said["high"], said["level"]),
            core.typed_dict_schema(fields, extra_behavior="forbid"),
        )


class KnownValue(Part):
    """A number or a word of the scenario, and where it comes from."""

    value: float | int | str | None
    origin: ScenarioOrigin
    unit: str = ""
    source: str = field("the file, the default's reason, or how it was derived", default="")
    reading: str = field("the quantity in canonical spelling", default="")


class Target(Part):
    """What all rows are to reach."""

    value: float | None = field("of the metric; null for a guarantee without a number", default=None)
    metric: str = field("the quantity in words, such as loss gap", default="")
    defined_by: str = field("given, or the row and rounds that define it", default="")
    rounds: int | None = field("that define it, or the most allowed", default=None)

    def stands_for(self, metric: str) -> bool:
        """Whether the value is a loss in place of an accuracy, of which no scale is known."""
        return metric == "accuracy" and self.metric != "test error"


class Faster(Part):
    """A baseline that takes less than the best row, or a server that does not wait and takes about as much."""

    id: str
    title: str
    ratio: Quantity = field(
        "its amount over that of the best row; below 1, or as much; up to 1.25 where the server does not wait"
    )
    advised: bool = field("whether to use it unless servers in between are needed", default=False)
    within_error: bool = field("whether the predictor's error covers the ratio to the best row", default=False)
    same_rounds: bool = field(
        "whether both are one algorithm, of as many rounds: no error is in the ratio", default=False
    )
    through: Quantity | None = field(
        "the ratio where clients share the links of servers, which are slower than their own; null where none is",
        default=None,
    )


class Waiting(Part):
    """Something that a round waits for, and the same twice as fast."""

    what: str
    now: str
    twice: str
    waits: float = field("share of the round in which it is in use")
    saves: float = field("share of the round that twice as fast saves")
    most: float = field("share that any speed of it alone could save")


class Without(Part):
    """A round without a client."""

    client: str
    saves: float = field("share of the round")
    samples: float = field("share of all samples that go with it")


class Verdict(Part):
    """The one answer to the question asked.

    With ``status`` depends, ``cases`` hold the verdict for each value of ``on``, and ``best`` is empty. With race-first
    ``best`` is predicted to be so, on evidence that is weak.
    """

    value: str = field("of the unknown that this case is for; empty for a whole verdict", default="")
    status: Status
    on: str = field("key of the scenario that decides, or objective; empty otherwise", default="")
    cases: tuple[Verdict, ...] = ()
    best: tuple[str, ...] = field("ids of rows; several for a toss-up", default=())
    runner_up: str = field("id of the best other row", default="")
    ratio: Quantity | None = field("amount of the runner-up over that of the best", default=None)
    confidence: float | None = field(
        "probability that the first of `best` is within 2 % of the best, at most 0.99; null where no record says",
        default=None,
    )
    baseline: Faster | None = field("the best baseline where it takes less than the best row", default=None)
    tie_break: tuple[str, ...] = field(
        "ids of one or two of a toss-up, of which one has the least traffic; by energy, carbon or money the least time",
        default=(),
    )
    text: Text = ""


class Assumption(Part):
    """A value that was not given."""

    key: str
    value: float | int | str | None
    unit: str = ""
    effect: str = field("what depends on it", default="")


class Caution(Part):
    """Something to know before the answer is used."""

    code: str = field("of `hfl-plan explain CODE`; empty without one", default="")
    text: Text
    help: str = field("what to do, such as an option to give", default="")


class Sensitivity(Part):
    """How the verdict depends on one parameter, all others fixed."""

    parameter: str
    now: float | int | str | None
    unit: str = ""
    break_even: float | int | str | None = field(
        "the nearest value with another best row, or a toss-up; null for none", default=None
    )
    best_beyond: tuple[str, ...] = ()
    toss_up: float | int | None = field(
        "from where on, up to it, the best is a toss-up; null where that is not before it, or was not looked for",
        default=None,
    )
    last: float | int | None = field(
        "up to where that is so; null for no end, or where none was looked for", default=None
    )
    sobol_total: float | None = field("total Sobol index of the lead; null where it was not drawn", default=None)
    method: str = field("exact, searched, sampled, setting, or draws", default="")

    @property
    def more(self) -> str:
        """What to know of that value beside who is best there, in words."""
        return ""


class Evidence(Part):
    """How often predictions like this were right where they could be checked."""

    dataset: str
    metric: str = ""
    right: int
    of: int
    regret_median: float | None = field("relative excess of following the first choice", default=None)
    regret_p90: float | None = None
    nearest: bool = field("whether these are the measured cases nearest to yours", default=False)
    far: bool = field("whether none of these cases is close to yours", default=False)
    until: int | None = field(
        "rounds that their targets take at most, where yours takes over twice as many; else null", default=None
    )
    weak: str = field("why these cases say little of yours", default="")
    note: str = ""

    @property
    def level(self) -> Literal["weak", "fair", "good"]:
        """How good they are in a word."""
        share = 0.0 if self.weak else self.right / self.of
        return "weak" if share < WEAK else "fair" if share < FAIR else "good"


class NextStep(Part):
    """A command to run next, or a question whose answer would decide."""

    argv: tuple[str, ...] = field("arguments; ``...`` stands for the options of this command")
    why: str = ""
    asks: bool = field("whether it answers what is unknown", default=False)


class Rows(tuple[Any, ...]):
    """Parts of an answer, in their order; a tuple that can be a data frame."""

    __slots__ = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one flat mapping for each part: a quantity takes a column, and ``_low`` and ``_high`` beside it.

        All have the same keys: an end that no part has is no key, and one that a part lacks is None.
        """
        each = [part if isinstance(part, Mapping) else part.__dict__ for part in self]
        found = [_flat(part) for part in each]
        nested = {name for part, flat in zip(each, found, strict=True) for name in part.keys() - flat.keys()}
        known = {key for flat in found for key in flat} - nested
        names = (key for part in each for name in part for key in (name, f"{name}_low", f"{name}_high"))
        keys = [key for key in dict.fromkeys(names) if key in known]
        return [{key: flat.get(key) for key in keys} for flat in found]

    def to_frame(self, library: frames.Library | None = None) -> Any:
        """Return a data frame, one line for each part, in SI units.

        Args:
            library: ``pandas`` or ``polars``; None for the one imported, else for the one installed.

        Raises:
            NoAnswerError: Where it is not installed.
        """
        return frames.made(self.records(), library)


class Kept(Part):
    """A whole document, with a ``schema`` that names its form, which can be kept in a file."""

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the answer as ``--json`` prints it; the file is there whole or not at all.

        Raises:
            ScenarioError: If the name is of another format, there is something already, or no folder to put it in.
            NoAnswerError: If it cannot be written.
        """
        if Path(path).suffix.lower() != ".json":
            raise ScenarioError(
                f"save: {str(path)!a:.80} does not end in .json. Name a file such as answer.json, or write other "
                "formats with output='answer.csv' as you ask.",
                code="E035",
            )
        write(path, json.dumps(self.to_json(), indent=2, allow_nan=False) + "\n", force, "save")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an answer that was saved.

        Raises:
            ScenarioError: For a file that holds none; it is read as text, and nothing in it is run.
        """
        return json_documents.loaded(Path(path), cls)


TABLES = frozenset({"rows", "assumptions", "warnings", "sensitivity", "evidence", "next"})  # even without a line

ADVICE = ("not-worth-it", "race-first")  # what is said of the best that its name does not say
LOADED = "loaded"  # in place of what draws the pictures of an answer, which files do not keep
MAKING = frozenset(  # names of an answer that those who make it use, and completion leaves out
    {"call", "file", "keeping", "open_cases", "page", "replaced", "schema_id", "shown", "words"}
)


class Answer(Kept):
    """A whole answer: a document with a verdict, rows, assumptions, evidence and next steps.

    Attributes:
        shown: Renders an answer: (answer, format, section) to text. `planner` sets it.
        chooses_groups: Whether its file has groups that label counts chose.
        plot: Draws its pictures: ``plot()``, ``plot.sensitivity()``; an answer that was loaded has none.
    """

    __slots__ = ("_call", "_file", "_page", "_plot")  # no fields: what shows it is no part of the answer
    shown: ClassVar[Callable[[Any, str, str], str] | None] = None
    chooses_groups: ClassVar[bool] = False

    schema: str
    version: str = field("of the program")
    command: tuple[str, ...] = field("arguments that ask for this answer", default=())
    title: str = ""
    scenario: dict[str, KnownValue] = field(
        "every number with its origin; empty where none is read", default_factory=dict
    )
    objective: Objective | Literal[""] = field("what is minimised; empty where nothing is", default="")
    metric: str = field("loss, accuracy or gradient; empty where none is meant", default="")
    target: Target | None = None
    verdict: Verdict
    rows: tuple[Part, ...]
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Caution, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    next: tuple[NextStep, ...] = ()

    def __init__(self, **values: Any) -> None:
        super().__init__(**{"version": version(), **values})
        self.__post_init__()

    def __post_init__(self) -> None:
        """Let tuples of parts be data frames."""
        for name, value in self.__dict__.items():
            if isinstance(value, tuple) and (name in TABLES or (value and isinstance(value[0], Part))):
                self.__dict__[name] = Rows(value)

    @property
    def tier_names(self) -> tuple[str, ...]:
        """What the tiers of the fleet are called, top first; empty where they have no names of their own."""
        tiers = self.scenario.get("tiers")
        return tuple(tiers.reading.split(" / ")) if tiers and tiers.reading else ()

    def words(self, parameter: str) -> str:
        """Write a key of the scenario for people, with the names of its tiers."""
        by_error = parameter == "target" and self.metric == "accuracy"
        return "target test error" if by_error else input_words(parameter, self.tier_names)

    def row(self, id_: str) -> Any:
        """Return the row of an id.

        Raises:
            KeyError: If there is none.
        """
        for row in self.rows:
            if (row if isinstance(row, Mapping) else row.__dict__).get("id") == id_:
                return row
        raise KeyError(id_)

    def records(self) -> list[dict[str, Any]]:
        """Return what ``--format csv`` writes: one flat mapping for each row, all with the same keys, in SI units."""
        return Rows(self.rows).records()

    to_frame = Rows.to_frame

    def explain(self, section: str = "all") -> str:
        """Return what ``--explain`` prints: all details, or one section.

        Raises:
            ScenarioError: For a section that there is not; it names those there are.
        """
        return self._shown("table", section)

    def to_html(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the answer as HTML for a page, or write a whole report to a file if one is named.

        Raises:
            ScenarioError: If there is something already, or no folder to put it in.
            NoAnswerError: If it cannot be written.
        """
        if path is None:
            return self._shown("html")
        text = self._shown("report")
        write(path, text, force, "to_html")
        return text

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an answer that was saved; it has no pictures.

        Raises:
            ScenarioError: For a file that holds none; it is read as text, and nothing in it is run.
        """
        return super().load(path).keeping(plot=LOADED)

    @property
    def plot(self) -> Any:
        """Draw the pictures of the answer: each returns matplotlib axes.

        Raises:
            ScenarioError: For an answer that knows nothing to draw, such as one that was loaded.
        """
        if (found := getattr(self, "_plot", None)) is None:
            raise ScenarioError("plot: such an answer has no picture. See planner.picture for those there are.")
        if found is LOADED:
            raise ScenarioError("plot: this answer was loaded, and files keep no pictures. Ask for it again.")
        return found

    def keeping(self, **beside: Any) -> Self:
        """Keep what is no part of the answer, its `plot`, `file`, `call` or `page`, and return the answer."""
        for name, kept in beside.items():
            object.__setattr__(self, f"_{name}", kept)
        return self

    @property
    def file(self) -> tuple[str, str] | None:
        """Suffix and text of the file that a command writes in place of this answer; None where it writes none."""
        return getattr(self, "_file", None)

    @property
    def call(self) -> str:
        """The call of Python that asks for this answer; empty where none did."""
        return str(getattr(self, "_call", ""))

    @property
    def page(self) -> Any:
        """The page of an answer that is laid out as it is made; None where it is laid out when it is shown."""
        return getattr(self, "_page", None)

    def replaced(self, **values: Any) -> Self:
        """Return the same with other values of some fields, with its page, and the call that asked for it."""
        return super().replaced(**values).keeping(page=self.page, call=self.call)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same, however they were asked for."""
        return type(other) is type(self) and other.__dict__ | {"command": ()} == self.__dict__ | {"command": ()}

    __hash__ = Kept.__hash__  # of parts that are mappings there is none

    def __dir__(self) -> list[str]:
        """Return what completion offers: the fields, and what shows, keeps and draws them."""
        return sorted({*super().__dir__()} - MAKING)

    def __repr__(self) -> str:
        verdict = self.verdict
        said: dict[str, Any] = {case.value.replace("-", "_"): _chosen(case) for case in verdict.cases}
        if not said:
            told = {"best": _chosen(verdict), "status": verdict.status, "objective": self.objective}
            told["status"] *= not verdict.best or verdict.status in ADVICE
            said = {name: word for name, word in told.items() if word}
        if verdict.ratio is not None:
            said["vs_next"] = float(f"{verdict.ratio:.2g}")
        if verdict.confidence is not None:
            said["confidence"] = round(verdict.confidence, 2)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in said.items())})"

    def __str__(self) -> str:
        """Return what a terminal shows, without colours."""
        return repr(self) if type(self).shown is None else self._shown("table")

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows, with a picture; None leaves that to the text."""
        if type(self).shown is None:
            return None
        plot: Any = getattr(self, "_plot", None)
        return self._shown("html") + ("" if plot in (None, LOADED) else plot.html())

    def _shown(self, form: str, section: str = "") -> str:
        if (shown := type(self).shown) is None:
            raise NotImplementedError("import planner to show answers.")
        return shown(self, form, section)


def _chosen(verdict: Verdict) -> str:
    """What is best, in a few words: ``star-ring or ring-ring``."""
    return " or ".join(verdict.best) or (f"depends on {verdict.on}" if verdict.on else "")


def _flat(part: Mapping[str, Any]) -> dict[str, Any]:
    """Of plain cells: without what is nested deeper than an interval."""
    found: dict[str, Any] = {}
    for name, value in part.items():
        if isinstance(value, Quantity):
            found |= {name: float(value)}
            if value.low is not None:
                found |= {f"{name}_low": value.low, f"{name}_high": value.high}
        elif isinstance(value, tuple | list) and all(isinstance(inner, str) for inner in value):
            found[name] = " ".join(value)
        elif not isinstance(value, Part | Mapping | tuple | list):
            found[name] = value
    return found


class Told(Answer):
    """An answer whose details are sentences.

    Attributes:
        details: By section of ``--explain``, its sentences.
    """

    version: str = field("of the program", default="")
    details: dict[str, tuple[str, ...]] = field("sentences of --explain, by section", default_factory=dict)
