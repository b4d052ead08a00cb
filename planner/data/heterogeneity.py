"""From how data are spread over clients to the two deviations a bound needs.

``zeta`` is INTRA-group (clients against their group), ``delta`` INTER-group (groups against the whole), both
root mean squares of gradient differences. The presets and the Dirichlet form are stated in units of the gradient
noise ``sigma``. A file of label counts says the ratio of the two; unless it also says the scale, that is the
Dirichlet form's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from hflbounds.topology import tier_symbols
from planner.errors import ScenarioError
from planner.io import intervals as spread
from planner.io.text import NUMBER, suggest
from planner.io.wording import join

if TYPE_CHECKING:
    from planner.data.label_counts import LabelCounts
    from planner.data.label_shift import Weighting
    from planner.data.profile import Profile, Range

FORMS = (
    "Write iid, intra, inter or both, zeta=0.5,delta=2, one number for each tier 0.5/1/2, "
    "dirichlet:intra=0.1,inter=0.3, dirichlet:intra=0.5,classes=2, or a file: counts.csv, profile.json."
)
FILES = (".csv", ".json")
CLASSES = 10  # labels assumed where concentrations are given without them
MOST_LABELS = 10**6
WHOLE = ("labels", "classes", "group_classes")  # numbers of the Dirichlet form that are counts
PROBLEM: Mapping[str, float] = {"sigma": 1.9, "L": 10.0, "scatter": 1.25, "A": 2.3}
"""Constants where none are given: of networks on images, as measured on Fashion-MNIST (docs/real-data.md, Defaults)."""
ONE_LABEL = 4.0  # how many sigma a client with a single label stands from an even mixture, as measured there
PRESETS: Mapping[str, tuple[float, float]] = {
    "iid": (0.33, 0.10),  # what finite samples make of an even split
    "intra": (2.5, 0.11),
    "inter": (0.33, 2.7),
    "both": (3.0, 0.95),
}
"""``zeta / sigma`` and ``delta / sigma``, measured there with Dirichlet 0.1 over labels."""
DIFFER = tuple(math.sqrt(low * high) for low, high in zip(PRESETS["iid"], PRESETS["both"], strict=True))
"""From which of these ratios on clients in a group and groups differ: halfway between alike and different."""


@dataclass(frozen=True, slots=True)
class FromFile:
    """What a table of label counts, or a profile, says of a fleet."""

    zeta: float  # zeta, delta: of gradients where ``absolute``, else of label shares
    delta: float
    absolute: bool  # whether the scale is known
    labels: int  # that occur
    groups: int  # how many
    clients: tuple[int, float, int]  # of a group, least, mean and most
    # ``zeta**2 / delta**2`` and the ends of its interval; None where there is none
    ratio: tuple[float | None, float | None, float | None]
    constants: dict[str, float] = field(default_factory=dict)  # what else was estimated, by letter
    warnings: tuple[str, ...] = ()  # about the file
    # standard error of the logarithm of a deviation or constant, by letter, where the file has an interval
    errors: dict[str, float] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()  # letters of deviations and constants whose interval is the number alone
    tiers: tuple[float, ...] = ()  # deviation of every tier, top first, in the unit of ``zeta``; empty for two tiers
    children: tuple[float, ...] = ()  # of a node of each of these tiers, in the mean
    # what predictions by loss take in place of ``constants``, where the curvature of the mean loss was seen
    by_loss: dict[str, float] = field(default_factory=dict)
    first: float | None = None  # the loss at the start, where losses are not negative
    parameters: int | None = None  # numbers of the model, where the file says it
    # the label counts, where they are the file
    table: LabelCounts | None = field(default=None, compare=False, repr=False)

    @property
    def uneven(self) -> bool:
        """Whether nodes of one tier have unequal numbers of children, by the label counts."""
        return self.table is not None and self.table.uneven

    @property
    def ratio_error(self) -> float:
        """Standard error of the logarithm of ``zeta / delta``; 0 where there is no interval."""
        _, low, high = self.ratio
        return math.log(high / low) / (4 * 1.96) if low and high else 0.0


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """What the user said of it."""

    form: Literal["preset", "numbers", "dirichlet", "file"]  # ``preset``, ``numbers``, ``dirichlet`` or ``file``
    text: str  # as written
    # zeta, delta: for ``numbers`` the values; for the others multiples of ``sigma`` before the finite numbers of groups
    # and clients are known; None where the user left one out
    zeta: float | None = None
    delta: float | None = None
    intra: float = math.inf  # intra, inter: Dirichlet concentrations per label; ``inf`` is an even spread
    inter: float = math.inf
    classes: int | None = None  # labels that each client has, drawn at random; None for all
    group_classes: int | None = None  # the same of each group
    labels: int = CLASSES  # there are in all
    measured: FromFile | None = None  # what a file says
    tiers: tuple[float, ...] | None = None  # for ``numbers``, one for each tier, top first, where they were given so

    @classmethod
    def per_tier(cls, numbers: tuple[float, ...], text: str = "") -> Heterogeneity:
        """One deviation for each tier, top first: of two, ``delta`` and ``zeta``."""
        delta, zeta = numbers if len(numbers) == 2 else (None, None)
        shown = text or "/".join(f"{number:g}" for number in numbers)
        return cls("numbers", shown, zeta=zeta, delta=delta, tiers=numbers)

    @property
    def depth(self) -> int | None:
        """How many tiers it is about, where numbers or a file say it."""
        if self.measured is not None:
            return len(self.measured.tiers) or 2
        return len(self.tiers) if self.tiers is not None else None

    def weighed(self, weights: Literal["samples", "equal"]) -> Heterogeneity:
        """Measure label counts again with clients that count alike, in any group, or by their samples.

        Without label counts it stays as it is.
        """
        table = self.measured.table if self.measured is not None else None
        if table is None:
            return self
        return replace(self, measured=of_counts(table, "clients" if weights == "equal" else "samples"))

    def deviations_of_tiers(self, sigma: float) -> tuple[float, ...]:
        """The deviation of every tier that a file of nested groups says, top first; empty where there is no such file.

        Those of label shares are scaled as `deviations` scales them.
        """
        if self.measured is None:
            return ()
        scale = 1.0 if self.measured.absolute else one_label(sigma, self.measured.labels)
        return tuple(scale * deviation for deviation in self.measured.tiers)

    @property
    def spread(self) -> spread.Spread | None:
        """Of ``sqrt(zeta**2 + delta**2)``, log-uniform between both at their low and both at their high."""
        numbers = [number for number in (self.zeta, self.delta) if number]
        reaches = [n.spread.reach if isinstance(n, spread.Uncertain) else 0.0 for n in numbers]
        if not any(reaches):
            return None
        low, high = (
            math.hypot(*(n * math.exp(side * reach) for n, reach in zip(numbers, reaches, strict=True)))
            for side in (-1, 1)
        )
        return spread.Spread("log-uniform", math.log(high / low) / 2)

    def deviations(
        self, sigma: float, groups: int, clients: int, counted: Sequence[tuple[float, float]] | None = None
    ) -> tuple[float, float]:
        """``(zeta, delta)`` for these many groups of these many clients.

        The Dirichlet form assumes pure label shift: group label shares are drawn from
        ``Dirichlet(inter)`` over all labels, or over `group_classes` of them, and client shares around their group's
        with concentration ``intra``, each per label. With `classes`, groups are alike and a client's shares are drawn
        from ``Dirichlet(intra)`` over that many labels. Gradients of different labels are orthogonal and equally long
        (so squared deviations are those of the label shares); and a client with a single label stands `ONE_LABEL`
        times ``sigma`` from an even mixture. The expectations over draws and over the finite number of groups and
        clients are exact. That form takes of every group its share and the sum of squared shares of its clients in it,
        ``counted``; None where all count alike.
        """
        if self.form == "numbers":
            return self.zeta or 0.0, self.delta or 0.0
        if self.form == "preset":
            zeta, delta = PRESETS[self.text]
            return of_preset(zeta, sigma), of_preset(delta, sigma)
        if self.measured is not None:
            scale = 1.0 if self.measured.absolute else one_label(sigma, self.measured.labels)
            return scale * self.measured.zeta, scale * self.measured.delta
        even = 1 / self.labels
        of_group = _squares(self.inter, self.group_classes or self.labels)
        between = of_group - even
        if self.classes is None:
            within = (1 - of_group) / (self.labels * self.intra + 1)
        else:
            within = _squares(self.intra, self.classes) - even
        spread = [(1 / groups, 1 / clients)] * groups if counted is None else counted
        zeta2 = within * sum(share * (1 - squares) for share, squares in spread)
        delta2 = sum(share * (1 - share) * (between + within * squares) for share, squares in spread)
        scale = one_label(sigma, self.labels)
        return scale * math.sqrt(zeta2), scale * math.sqrt(delta2)


def of_preset(multiple: float, sigma: float) -> float:
    """Return a deviation of a preset, which is a multiple of ``sigma``.

    Without gradient noise there is no sigma to measure in: it is then a multiple of 1, and 0 for what finite samples
    make of an even split.
    """
    return multiple * (sigma or float(multiple > max(PRESETS["iid"])))


def one_label(sigma: float, labels: int) -> float:
    """Return what deviations of label shares are multiplied with to be deviations of gradients."""
    return ONE_LABEL * (sigma or 1.0) / math.sqrt(1 - 1 / labels)


def assumed_scale(sigma: float, noun: str = "client") -> str:
    """Say what scale label counts are given."""
    return (
        f"a {noun} with a single label is taken to stand {ONE_LABEL:g} sigma = {ONE_LABEL * (sigma or 1.0):g} from an "
        "even mixture, as measured on images"
    )


def preset(name: str, depth: int) -> tuple[float, ...]:
    """Deviations of a preset for a tree of any depth, top first, over sigma; groups of one tree are split once."""
    zeta, delta = PRESETS[name]
    between = delta if name == "both" else PRESETS["iid"][1]
    return (delta, *[between] * (depth - 2), zeta)[-depth:]


def parse(text: object) -> Heterogeneity:
    """Read ``inter``, ``zeta=0.5,delta=2`` or ``dirichlet:intra=0.1,inter=0.3``; a table of numbers too.

    Raises:
        ScenarioError: naming what is wrong, without the field, which the caller knows.
    """
    if isinstance(text, dict):
        text = ",".join(f"{key}={value}" for key, value in text.items())
    if not isinstance(text, str) or not 0 < len(text) <= (4096 if text.lower().endswith(FILES) else 200):
        raise ScenarioError(f"{text!r:.60} is not a form of heterogeneity. {FORMS}")
    text = text.strip()
    if text in PRESETS:
        return Heterogeneity("preset", text)
    if text.startswith("dirichlet:"):
        return _dirichlet(text)
    if "=" in text:
        numbers = _pairs(text, ("zeta", "delta"), positive=False)
        return Heterogeneity("numbers", text, zeta=numbers.get("zeta"), delta=numbers.get("delta"))
    if text.lower().endswith(FILES):
        return Heterogeneity("file", text, measured=_from_file(Path(text)))
    if text.lower().endswith(".toml"):
        raise ScenarioError(f"{text!a:.80} is a scenario, and no data of a fleet. Use --config {text}.", code="E020")
    if "/" in text and Path(text).is_dir():
        raise ScenarioError(f"{text!a:.80} is a folder. Name a file in it: a CSV of label counts, or a profile.")
    if "/" in text or NUMBER.fullmatch(text):
        parts = [part.strip() for part in text.split("/")]
        one = _one("deviation", text, positive=False)
        return Heterogeneity.per_tier(tuple(spread.read(part, one, field="deviation") for part in parts), text)
    hint = suggest(text, [*PRESETS, "dirichlet:"]) or FORMS
    if text.lower().startswith(("non", "not")):  # the nearest word, iid, is the opposite
        hint = "Write intra (clients in a group differ), inter (groups differ) or both."
    raise ScenarioError(f"{text!a} is not a form of heterogeneity. {hint}")


def _from_file(path: Path) -> FromFile:
    if path.suffix.lower() == ".json":
        from planner.data.profile import read_profile

        profile = read_profile(path)
        gap = profile.constants.A
        if gap is not None and gap.value == 0:
            raise ScenarioError(
                f"{path}: nothing trains by this profile, as no loss of its run was below that at the start. Run "
                "`hfl-plan estimate` again with a lower --rate or more --steps, or check the loss of the hook."
            )
        return _of_profile(profile)
    from planner.data.label_counts import read_counts

    return of_counts(read_counts(path), "groups")


def of_counts(table: LabelCounts, weighting: Weighting) -> FromFile:
    """Measure label counts that have groups, with as many draws as an answer waits for."""
    from planner.data.label_shift import measure, soon
    from planner.data.profile import from_counts

    found = measure(table, draws=soon(table), weighting=weighting)
    return replace(_of_profile(from_counts(table, found, weighting=weighting)), warnings=table.warnings, table=table)


def _of_profile(profile: Profile) -> FromFile:
    sizes, ratio = profile.clients_per_group, profile.ratio
    constants = {"sigma": profile.constants.sigma, "L": profile.constants.L, "A": profile.constants.A}
    errors = {name: _error(found, profile.level) for name, found in constants.items()}
    tiers = profile.tiers or []
    deviations = {"zeta": profile.zeta2, "delta": profile.delta2}
    deviations |= {
        symbols.deviation: tier.deviation2 for symbols, tier in zip(tier_symbols(len(tiers)), tiers, strict=True)
    }
    errors |= {name: _error(squared, profile.level) / 2 for name, squared in deviations.items()}
    ranges = {**constants, **deviations}
    return FromFile(
        zeta=math.sqrt(profile.zeta2.value or 0.0),
        delta=math.sqrt(profile.delta2.value or 0.0),
        absolute=profile.unit == "gradients",
        labels=profile.labels or 2,
        groups=profile.groups,
        clients=(sizes.least, sizes.mean, sizes.most),
        ratio=(ratio.value, ratio.low, ratio.high),
        constants={name: found.value for name, found in constants.items() if found is not None and found.value},
        errors={name: error for name, error in errors.items() if error > 0},
        exact=frozenset(name for name, of in ranges.items() if of is not None and of.low == of.value == of.high),
        tiers=tuple(math.sqrt(tier.deviation2.value or 0.0) for tier in tiers),
        children=tuple(tier.children for tier in tiers),
        by_loss=_by_loss(profile),
        first=profile.constants.A.high if profile.constants.A is not None else None,
        parameters=profile.parameters,
    )


def _by_loss(profile: Profile) -> dict[str, float]:
    """Constants as predictions by loss want them: of the mean loss, which may fall as far as it can."""
    curvature, gap = profile.constants.curvature, profile.constants.A
    if curvature is None or not curvature.value:
        return {}
    found = {"L": curvature.value}
    if gap is not None and (lowest := gap.high or gap.value):
        found["A"] = lowest
    for name in ("fading", "decay"):
        power: Range | None = getattr(profile.constants, name)
        if power is not None and power.value is not None:
            found[name] = power.value
    return found


def _error(found: Range | None, level: float) -> float:
    """Standard error of the logarithm of a number with an interval; 0 where it has none."""
    if found is None or not found.value or not found.high or found.high <= found.value:
        return 0.0
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    if not found.low:
        return math.log(found.high / found.value) / quantile
    return math.log(found.high / found.low) / (2 * quantile)


def _dirichlet(text: str) -> Heterogeneity:
    """Read concentrations, and how many labels a client or a group has."""
    found = _pairs(text.removeprefix("dirichlet:"), ("intra", "inter", *WHOLE), positive=True)
    whole: dict[str, int] = {}
    most = MOST_LABELS
    for name in WHOLE:
        least = 2 if name == "labels" else 1
        number = found.get(name)
        if number is not None and not (number.is_integer() and least <= number <= most):
            raise ScenarioError(f"{name} = {number:g} in {text!a:.60} is not a whole number from {least} to {most}.")
        whole[name] = CLASSES if number is None else int(number)
        most = whole["labels"]
    of_clients, of_groups = (whole[name] if name in found else None for name in ("classes", "group_classes"))
    if of_clients is not None and ("inter" in found or of_groups is not None):
        raise ScenarioError(
            f"{text!a:.80}: with classes= the labels of every client are drawn from all, and groups are alike. "
            "Leave inter and group_classes out, or give group_classes= with intra=."
        )
    intra, inter = (found.get(name, math.inf) for name in ("intra", "inter"))
    return Heterogeneity(
        "dirichlet", text, intra=intra, inter=inter, classes=of_clients, group_classes=of_groups, labels=whole["labels"]
    )


def _squares(concentration: float, labels: int) -> float:
    """Expected sum of squares of Dirichlet shares with one concentration for each of so many labels."""
    return 1 / labels if math.isinf(concentration) else (concentration + 1) / (labels * concentration + 1)


def _pairs(text: str, names: Sequence[str], *, positive: bool) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = (piece.strip() for piece in part.partition("="))
        if not sign:
            raise ScenarioError(f"{part.strip()!a:.40} in {text!a:.60} is not name=number. {FORMS}")
        if name not in names:
            hint = suggest(name, names) or f"Known here are {join(names)}."
            raise ScenarioError(f"{name!a} in {text!a:.60} is not known. {hint}")
        if name in found:
            raise ScenarioError(f"{name} is given twice in {text!a:.60}. Give it once.", code="E002")
        one = _one(name, number, positive=positive)
        found[name] = one(number) if positive else spread.read(number, one, field=name)
    return found


def _one(name: str, whole: str, *, positive: bool) -> Callable[[object], float]:
    def read(text: object) -> float:
        number = str(text)
        plain = number and number.isascii() and set(number) <= set("0123456789.eE+-")
        try:
            value = float(number) if plain else math.nan
        except ValueError:
            value = math.nan
        rule = "between 1e-6 and 1e6" if positive else "0, or between 1e-100 and 1e100"
        good = 1e-6 <= value <= 1e6 if positive else (value == 0 and number[0] != "-") or 1e-100 <= value <= 1e100
        if not good:
            raise ScenarioError(f"{name} = {whole!a} must be a number {rule}. Write {name}=0.5.")
        return value

    return read
