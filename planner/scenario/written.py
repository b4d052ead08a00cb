"""What was written of a scenario, by key, with fleets of tiers of any depth brought to one form.

Two tiers written as ``[[fleet.tiers]]`` are groups and clients: they become ``fleet.groups`` and the like, so that both
ways to write them are one scenario. The numbers of any other depth are kept by tier, ``fleet.tiers[2].count``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from planner.data.heterogeneity import Heterogeneity
from planner.errors import ScenarioError
from planner.io.wording import counted, join
from planner.scenario.fields import FIELDS, Span, Tree, read_table
from planner.scenario.network import link_names
from planner.scenario.values import unnamed

if TYPE_CHECKING:
    from hflbounds.topology import Topology
    from planner.data.fleet import Listed

SHORT: Final = (  # keys of the numbers of two tiers, top first
    {"count": "fleet.groups", "drawn": "fleet.groups_per_round", "passes": ""},
    {"count": "fleet.clients_per_group", "drawn": "fleet.clients_per_round", "passes": "fleet.group_rounds"},
)
PASSES: Final = "fleet.group_rounds"  # key of the passes of the lower of two tiers, or of all below the top, ``3/1``
OF_TWO: Final = ("fleet.clients", "network.tiers", *(key for tier in SHORT for key in tier.values() if key))
"""Keys that are about two tiers."""
COUNTS: Final = ("clients", "groups", "clients_per_group")  # keys of `fleet` that count two tiers


@dataclass(frozen=True)
class Written:
    """What was written, read and without contradictions of form."""

    values: Mapping[str, Any]  # by key
    name: Callable[[str], str]  # what a key is called in errors
    names: tuple[str, ...] = ("group", "client")  # of the children of every tier, top first
    topologies: tuple[str, ...] | None = None  # ids of those that are asked about; None for all
    # the fleet client by client, where it was given so; the counts are then means, rounded up
    listed: Listed | None = None

    @property
    def depth(self) -> int:
        """Number of tiers."""
        return len(self.names)

    def get(self, key: str) -> Any:
        """Return what was written at a key; None for nothing."""
        return self.values.get(key)

    def says(self, *sections: str) -> bool:
        """Whether anything was written in these sections."""
        return any(key.startswith(tuple(f"{section}." for section in sections)) for key in self.values)

    def section(self, name: str) -> dict[str, Any]:
        """Return what was written in a section, by key without its name."""
        return {key.partition(".")[2]: one for key, one in self.values.items() if key.startswith(f"{name}.")}

    def changed(self, changes: Mapping[str, Any]) -> Written:
        """Return the same with other values."""
        return replace(self, values={**self.values, **changes})

    def key_of(self, tier: int, part: str) -> str:
        """Return the key of a number of a tier, the top tier being 0."""
        return SHORT[tier][part] if self.depth == 2 else f"fleet.tiers[{tier + 1}].{part}"

    def of_tiers(self, part: str) -> list[Any]:
        """Return a number of every tier, top first; None where nothing was written."""
        return [self.get(self.key_of(tier, part)) for tier in range(self.depth)]


def read_written(table: Mapping[str, Any], name: Callable[[str], str]) -> Written:
    """Read the tables of a scenario.

    Raises:
        ScenarioError: For what cannot be read, or tiers that contradict each other.
    """
    values = read_table(table, FIELDS, name)
    tiers = list(values.pop("fleet.tiers", ()))
    tree, topologies = values.get("network.tiers"), None
    if (listed := _listed(values, tiers, tree, name)) is not None:
        tiers = _of_list(listed, tiers, tree, name)
    elif getattr(tree, "sizes", None) is None and (lost := [i for i, one in enumerate(tiers, 1) if "count" not in one]):
        at = name(f"fleet.tiers[{lost[0]}].count")
        raise ScenarioError(f"{at}: is missing. Say how many children each node of it has.", code="E003")
    form, whose = values.get("problem.heterogeneity"), "this fleet"
    if not tiers and form is not None and form.measured is not None and getattr(tree, "sizes", None) is None:
        tiers = [{} for _ in form.measured.tiers]  # counted in the file
        whose = form.text if tiers else whose
    pilot = values.get("problem.pilot")
    if not tiers and pilot is not None and getattr(tree, "sizes", None) is None and len(pilot.fleet.sizes) != 2:
        tiers, whose = [{} for _ in pilot.fleet.sizes], "the pilot"
    if isinstance(tree, Tree):
        del values["network.tiers"]
        if tree.sizes is not None:
            _refuse_counts(values, name)
            if tiers and len(tiers) != tree.depth:
                way = f"Give {len(tiers)}, such as {'/'.join(['10'] * len(tiers))}, or no [[fleet.tiers]] in the file."
                fact = f"{counted(tree.depth, 'size')} for {counted(len(tiers), 'tier')}"
                raise ScenarioError(f"{name('network.tiers')}: {fact}. {way}")
            tiers = [{**old, "count": size} for old, size in zip(tiers or [{}] * tree.depth, tree.sizes, strict=True)]
        if tree.topology is not None:
            topologies = (tree.topology.id,)
            if tree.depth != (len(tiers) or 2):
                raise _of_other_depth(tree.topology, len(tiers) or 2, values, name, fixed=bool(tiers))
    if isinstance(values.get(PASSES), tuple):
        tiers = _passed(values, tiers, name)
    if not tiers:
        return Written(values, name, topologies=topologies)
    depth, last = len(tiers), len(tiers) - 1
    names = _names(tiers, name)
    found = Written({}, name, names, topologies, listed)
    of_tiers: dict[str, Any] = {}
    places: dict[str, str] = {}
    for i, tier in enumerate(tiers):
        for part in ("count", "drawn", "passes"):
            key, place = found.key_of(i, part), f"fleet.tiers[{i + 1}].{part}"
            if part not in tier:
                continue
            if part == "passes" and i == 0 and tier[part] != 1:
                way = f"Those of a {names[0]} are fleet.tiers.2.passes." if last else "Leave it out."
                raise ScenarioError(f"{name(place)}: the top server passes through its children once. {way}")
            if depth != 2 and isinstance(tier[part], Span):
                raise ScenarioError(f"{name(place)}: ranges are searched in two tiers only. Give one.", code="E005")
            if key:
                of_tiers[key], places[key] = tier[part], place
        for key, value in tier.items():
            if key.startswith("link."):
                of_tiers[f"network.{link_names(depth)[i]}.{key.removeprefix('link.')}"] = value
    if orders := {tier["order"] for tier in tiers if "order" in tier}:
        if len(orders) > 1:
            raise ScenarioError(f"{name('fleet.tiers')}: the orders of rings differ. Write one fleet.order for all.")
        of_tiers["fleet.order"] = orders.pop()
    deviations = [tier.get("deviation") for tier in tiers]
    if any(one is not None for one in deviations):
        if None in deviations:
            i = deviations.index(None) + 1
            path = f"fleet.tiers[{i}].deviation"
            raise ScenarioError(f"{name(path)}: is missing. Give it for every tier, or for none.", code="E003")
        of_tiers["problem.heterogeneity"] = Heterogeneity.per_tier(tuple(deviations))
    if depth != 2:
        _refuse_two(values, name, f"{whose} has {depth}")
        if isinstance(values.get("fleet.local_steps"), Span):
            at = name("fleet.local_steps")
            way = "Give one number; `hfl-plan tune` searches K and the passes of deeper trees."
            raise ScenarioError(f"{at}: a range is searched in two tiers only. {way}", code="E005")
    if last == 0 and any(key.startswith("network.server_link.") for key in values):
        raise ScenarioError(f"{name('network.server_link')}: one tier has no group servers. Leave it out.", code="E005")
    return replace(found, values={**of_tiers, **values}, name=lambda key: name(places.get(key, key)))


def _passed(values: dict[str, Any], tiers: list[Any], name: Callable[[str], str]) -> list[Any]:
    """Give tiers below the top their passes, which were written as one value."""
    each, below = values.pop(PASSES), (len(tiers) or 2) - 1
    if len(each) != below:
        way = "Write one for each, joined by /, or leave it out."
        raise ScenarioError(f"{name(PASSES)}: {len(each)} numbers for {counted(below, 'tier')} below the top. {way}")
    return [tiers[0], *({**tier, "passes": one} for tier, one in zip(tiers[1:], each, strict=True))]


def _of_other_depth(
    one: Topology, depth: int, values: Mapping[str, Any], name: Callable[[str], str], *, fixed: bool
) -> ScenarioError:
    """Refuse a topology of other tiers than the fleet's, and name all that is to go with these, unless it is fixed."""
    counts = [name(tier["count"]) for tier in SHORT if tier["count"] in values]
    place = f", in place of {join(counts)}" if counts else ""
    form = values.get("problem.heterogeneity")
    of_two = form is not None and form.form in ("numbers", "dirichlet") and form.tiers is None
    keys = [key for key in OF_TWO if key in values] + ["problem.heterogeneity"] * of_two
    rest = [name(key) for key in keys if one.depth != 2 and name(key) not in counts]
    also = f"; leave out {join(rest)}, of two tiers" if rest else ""
    way = f"Give the sizes too{place}: {'/'.join(f'{p.id}:10' for p in one.patterns)}{also}."
    if fixed:
        way = f"Give {depth} patterns, such as {'/'.join([one.patterns[0].id] * depth)}."
    return ScenarioError(
        f"{name('network.tiers')}: {one.title} has {one.depth} tiers, and the fleet has {depth}. {way}"
    )


def _listed(values: dict[str, Any], tiers: list[Any], tree: Any, name: Callable[[str], str]) -> Listed | None:
    """Take a fleet by list from what was written, else from a pilot or label counts whose nodes differ.

    Deviations of label counts are then those of the same weights.
    """
    found = _by_list(values, name)
    if "fleet.samples" in values:
        found = _by_law(values, tiers, tree, found, name)
    if found is None:
        counts = any(values.get(f"fleet.{key}") is not None for key in COUNTS)
        if not (counts or any("count" in tier for tier in tiers) or getattr(tree, "sizes", None) is not None):
            found = _of_pilot(values, tiers) if "problem.pilot" in values else _of_counts(values)
    if found is None:
        if "fleet.weights" in values:
            raise ScenarioError(
                f"{name('fleet.weights')}: clients that are not listed all count alike. Give --fleet fleet.csv with "
                "samples or label counts, --data counts.csv, without numbers of groups; or leave the weights out."
            )
        return None
    form, weights = values.get("problem.heterogeneity"), values.get("fleet.weights") or found.weights
    if form is not None and form.measured is not None and (weights == "samples" or form.measured.uneven):
        values["problem.heterogeneity"] = form.weighed(weights)
    return found


def _by_list(values: dict[str, Any], name: Callable[[str], str]) -> Listed | None:
    """Take a fleet that was listed, or groups of a number of clients that is no multiple of theirs."""
    by_client, by_group = values.pop("fleet.list", None), values.get("fleet.groups")
    if isinstance(by_group, int | Span | None) and by_client is None:
        return _nearly_equal(values, by_group)
    key = "fleet.list" if by_client is not None else "fleet.groups"
    for other in ("fleet.groups", "fleet.clients", "fleet.clients_per_group"):
        if other in values and other != key:
            raise ScenarioError(
                f"{name(other)}: {name(key)} says who is in which group. Leave one of the two out.", code="E002"
            )
    values.pop("fleet.groups", None)
    return by_client if by_client is not None else by_group


def _nearly_equal(values: dict[str, Any], groups: int | Span | None) -> Listed | None:
    """Part a number of clients into so many groups whose sizes differ by one, where they cannot be equal."""
    clients = values.get("fleet.clients")
    if clients is None or not isinstance(groups, int) or "fleet.clients_per_group" in values:
        return None
    less, more = divmod(clients, groups)
    if not (less and more):
        return None
    from planner.data.fleet import by_sizes  # needs numpy, which most scenarios do without

    del values["fleet.clients"], values["fleet.groups"]
    source = f"{clients:,} clients in {groups:,} groups"
    return by_sizes(source, [[groups], [less + 1] * more + [less] * (groups - more)])


def _by_law(
    values: dict[str, Any], tiers: list[Any], tree: Any, listed: Listed | None, name: Callable[[str], str]
) -> Listed:
    """Deal samples that follow a law to the clients of groups of one size."""
    from planner.data.fleet import by_power  # needs numpy, which most scenarios do without

    form, at = values.get("problem.heterogeneity"), name("fleet.samples")
    counted = form is not None and form.measured is not None and form.measured.table is not None
    if listed is not None or counted:
        source = listed.source if listed is not None else values["problem.heterogeneity"].text
        raise ScenarioError(f"{at}: {source} has the samples of its clients. Leave one of the two out.", code="E002")
    counts = [tier.get("count") for tier in tiers] or [values.get(short["count"]) for short in SHORT]
    if "fleet.clients" in values or getattr(tree, "sizes", None) or not all(isinstance(one, int) for one in counts):
        raise ScenarioError(
            f"{at}: samples are dealt to a given number of clients. Give --groups and --clients-per-group, one number "
            "each, or [[fleet.tiers]] with counts.",
            code="E003",
        )
    for short in SHORT:
        values.pop(short["count"], None)
    for tier in tiers:
        tier.pop("count", None)
    return by_power(at, counts, values["fleet.samples"], values.get("plan.seed") or 0)


def _of_counts(values: dict[str, Any]) -> Listed | None:
    """Take the fleet of label counts, where groups are of unequal sizes or clients are to count by their samples."""
    form, weights = values.get("problem.heterogeneity"), values.get("fleet.weights")
    measured = form.measured if form is not None else None
    if measured is None or measured.table is None or not (measured.uneven or weights):
        return None
    from planner.data.fleet import of_counts  # needs numpy, which most scenarios do without

    return of_counts(measured.table, samples=weights == "samples")


def _of_pilot(values: dict[str, Any], tiers: list[Any]) -> Listed | None:
    """Take the fleet of a pilot whose nodes differ, and who it draws."""
    fleet = values["problem.pilot"].fleet
    if fleet.children is None:
        return None
    from planner.data.fleet import by_sizes  # needs numpy, which most scenarios do without

    if not tiers:
        tiers += [{} if some == most else {"drawn": some} for some, most in zip(fleet.drawn, fleet.sizes, strict=True)]
    return by_sizes("the pilot", fleet.children, fleet.samples)


def _of_list(listed: Listed, tiers: list[Any], tree: Any, name: Callable[[str], str]) -> list[Any]:
    """Give tiers the counts of a list, the means over nodes, rounded up."""
    if getattr(tree, "sizes", None) is not None:
        raise ScenarioError(f"{name('network.tiers')}: {listed.source} has the sizes. Write the patterns alone.")
    if tiers and len(tiers) != listed.depth:
        raise ScenarioError(
            f"{name('fleet.tiers')}: {len(tiers)} tiers, and {listed.source} has {listed.depth}. Write as many, "
            "or leave the tiers out.",
            code="E002",
        )
    if any("count" in tier for tier in tiers):
        raise ScenarioError(f"{name('fleet.tiers')}: {listed.source} has the counts. Leave them out.")
    return [
        {**tier, "count": -(-int(sizes.sum()) // len(sizes))}
        for tier, sizes in zip(tiers or [{}] * listed.depth, listed.sizes, strict=True)
    ]


def _names(tiers: list[Any], name: Callable[[str], str]) -> tuple[str, ...]:
    """Name the children of every tier, each unlike the others."""
    names = tuple(tier.get("name") or word for tier, word in zip(tiers, unnamed(len(tiers)), strict=True))
    if twice := next((one for one in names if names.count(one) > 1), None):
        raise ScenarioError(f"{name('fleet.tiers')}: two tiers are named {twice}. Give each a name of its own.")
    return names


def _refuse_counts(values: Mapping[str, Any], name: Callable[[str], str]) -> None:
    """Refuse counts of two tiers where ``network.tiers`` gives sizes."""
    if said := [name(f"fleet.{key}") for key in COUNTS if f"fleet.{key}" in values]:
        at = name("network.tiers")
        raise ScenarioError(f"{at}: sizes are also given by {join(said)}. Leave one of them out.", code="E002")


def _refuse_two(values: Mapping[str, Any], name: Callable[[str], str], has: str) -> None:
    """Refuse the keys of two tiers where there are not two."""
    for key in OF_TWO:
        if key in values:
            counted = key == "fleet.clients" or key in (tier["count"] for tier in SHORT)
            way = "Write it in [[fleet.tiers]] (passes, drawn), or --tiers 4/5/20 with --set fleet.tiers.2.passes=4."
            if key == "network.tiers":
                way = "Leave it out: FedAvg beside the topologies has one tier. Or give all sizes, as 4/5/20 of three."
            if key == PASSES:
                way = "Write the passes of all tiers below the top, such as 3/1 of three tiers."
                way += " `hfl-plan tune` tries ranges of those of the lowest."
            raise ScenarioError(
                f"{name(key)}: is about two tiers, and {has}. "
                f"{'Leave it out, as the tiers have their counts.' if counted else way}",
                code="E005",
            )
