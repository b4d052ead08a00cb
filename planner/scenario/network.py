"""What a federation's machines and links can do: rates, latencies, sharing, step times, stragglers.

Frozen settings only; :mod:`planner.cost.round` turns them into seconds and bytes. Rates are in bit/s, times in
seconds. Two questions decide the clock by orders of magnitude and are therefore fields and not footnotes:
whether a rate is every client's own or is shared at the server (``sharing``), and whether a ring passes the
model from client to client or through a server (``hop``).
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast, get_args

from planner.errors import PlannerError
from planner.io.text import NUMBER, suggest

if TYPE_CHECKING:
    from hflbounds.topology import Topology

Sharing = Literal["per-client", "per-server"]
Hop = Literal["relayed", "direct"]
StragglerKind = Literal["none", "exponential", "lognormal"]

_MAX_LOGNORMAL_CV: Final = 10.0


class NetworkError(PlannerError, ValueError):
    """A link, network or compute setting that cannot be; the message names the field and the way out."""

    kind = "E027"


@dataclass(frozen=True, slots=True)
class Link:
    """The links between one server and the endpoints that talk to it."""

    up: float  # rate from an endpoint to the server [bit/s]
    down: float  # rate from the server to an endpoint [bit/s]
    latency: float = 0.0  # time before the first bit of a transfer arrives [s], one way, paid once per hop
    # ``per-client``: every endpoint has ``up`` and ``down`` for itself. ``per-server``: they are the server's, and the
    # transfers under way at the same time in the same direction share them equally; a direct hop counts in both
    # directions
    sharing: Sharing = "per-client"
    # how a ring passes the model on. ``direct``: from one endpoint to the next, at the smaller of the sender's ``up``
    # and the receiver's ``down``, one latency. ``relayed``: through the server, up and then down, two latencies, two
    # traversals. Devices behind address translation are ``relayed``
    hop: Hop = "relayed"
    # bytes of an upload over those of the model; also of a direct hop, which its sender compresses
    payload_up: float = 1.0
    payload_down: float = 1.0  # bytes of a download over those of the model

    @property
    def whole(self) -> bool:
        """Whether models are sent as they are."""
        return self.payload_up == self.payload_down == 1.0

    def sent_whole(self) -> Link:
        """Return the link without compression."""
        return replace(self, payload_up=1.0, payload_down=1.0)


class Timer(Protocol):
    """Times a global round of a tree on a network whose hops are known, in seconds."""

    def __call__(self, topology: Topology, K: int, compute: Compute, model_bytes: float) -> float:
        """Take a tree with its sizes and passes, local steps, and the size of a model [bytes]."""


@dataclass(frozen=True, slots=True)
class Network:
    """The links of every tier of a tree."""

    # top tier first; the last joins clients and their server. None where nothing travels: the children of such a tier
    # are logical, and sit at their parent. A ``per-server`` link is then shared by all endpoints that are active at the
    # same time below one machine, whatever their logical parent
    links: tuple[Link | None, ...]
    spare: Link | None = None  # the link that the tier above the clients would have; it costs nothing
    # times a round where every hop is known; the links then say what travels, and cannot be moved
    timer: Timer | None = None

    @classmethod
    def two_tier(cls, tiers: int, client_link: Link, server_link: Link | None = None) -> Network:
        """Build the network of groups of clients: 2 tiers with group servers, 1 where all talk to the top server."""
        return cls((server_link, client_link)) if tiers == 2 else cls((None, client_link), server_link)

    @property
    def whole(self) -> bool:
        """Whether models are sent as they are on every link."""
        return all(link is None or link.whole for link in self.links)

    def sent_whole(self) -> Network:
        """Return the network without compression."""
        return replace(self, links=tuple(link and link.sent_whole() for link in self.links))

    @property
    def tiers(self) -> int:
        """Tiers on which something travels."""
        return sum(link is not None for link in self.links)

    @property
    def client_link(self) -> Link:
        """The link of the clients."""
        assert self.links[-1] is not None  # noqa: S101 - clients always have one
        return self.links[-1]

    @property
    def server_link(self) -> Link | None:
        """The link one tier above the clients, or the one that it would have."""
        if self.timer is not None:
            return None
        return (self.links[-2] if len(self.links) > 1 else None) or self.spare

    @property
    def named(self) -> Mapping[str, Link]:
        """Links on which something travels, in some time, and that may be moved, by `link_names`, lowest first."""
        if self.timer is not None:
            return {}
        pairs = zip(reversed(link_names(len(self.links))), reversed(self.links), strict=True)
        return {name: link for name, link in pairs if link is not None and link != NOTHING}

    def with_link(self, name: str, /, **parts: Any) -> Network:
        """Change parts of the link of that name, one of those `named`, such as ``up``."""
        at = link_names(len(self.links)).index(name)
        link = replace(self.named[name], **parts)
        return replace(self, links=(*self.links[:at], link, *self.links[at + 1 :]))

    def alone(self, depth: int) -> Network:
        """The link of the clients alone, in a tree of so many tiers."""
        return Network((*(None for _ in range(depth - 1)), self.client_link), timer=self.timer)

    def by_group(self, depth: int) -> Network:
        """The link of the clients, each shared by a group as now, with nothing in the way above the groups."""
        return Network((*(NOTHING for _ in range(depth - 1)), self.client_link))

    def through_servers(self, drawn: Sequence[float]) -> Network:
        """Let clients reach the top over all links, while so many endpoints of every tier send at once, top first."""
        at = ((i, link) for i, link in enumerate(self.links) if link is not None)
        known = [(link, math.prod(drawn[i + (link.sharing == "per-client") :])) for i, link in at]
        up, down = (min(getattr(link, part) / below for link, below in known) for part in ("up", "down"))
        latency = sum(link.latency for link, _ in known)
        own = replace(self.client_link, up=up, down=down, latency=latency, sharing="per-client")
        return replace(self, links=(*self.links[:-1], own))

    def slower_through_servers(self, drawn: Sequence[float]) -> bool:
        """Whether links above the clients' own carry less of what so many endpoints of every tier send at once."""
        own, all_of_them = (one.through_servers(drawn).client_link for one in (self.alone(len(drawn)), self))
        return all_of_them.up < own.up or all_of_them.down < own.down

    def with_servers(self, servers: bool) -> Network:
        """Put servers above the clients, with the spare link, or take them away and keep their link as the spare."""
        link = self.server_link
        above = (*self.links[:-2], link if servers else None)
        return Network((*above, self.links[-1]), None if servers else link)


def link_names(depth: int) -> tuple[str, ...]:
    """What the link of every tier is called, top first: those above the servers of clients by number."""
    return (*(f"link{i}" for i in range(1, depth - 1)), "server_link", "client_link")[-depth:]


@dataclass(frozen=True, slots=True)
class Straggler:
    """A random factor of mean 1 on the time of one client's K local steps in one group round.

    Drawn independently for every client and group round.
    """

    # ``none``: the factor is 1. ``exponential``: ``1 - cv + cv * Exp(1)``, a machine that is never faster than ``1 -
    # cv`` of its mean. ``lognormal``: the log is normal
    kind: StragglerKind = "none"
    cv: float = 0.0  # coefficient of variation of the factor, its standard deviation over its mean [-]

    @property
    def varies(self) -> bool:
        """Whether the factor is random."""
        return self.kind != "none" and self.cv > 0

    def __str__(self) -> str:
        """The form that :func:`parse_straggler` reads."""
        return self.kind if self.kind == "none" else f"{self.kind}:{self.cv:g}"


@dataclass(frozen=True, slots=True)
class Compute:
    """How long the work itself takes."""

    step_time: float  # mean time of one local step of one client [s]
    straggler: Straggler = field(default_factory=Straggler)  # how the time of a client's K local steps varies

    @property
    def random(self) -> bool:
        """Whether times vary at all."""
        return self.straggler.varies and self.step_time > 0


@dataclass(frozen=True, slots=True)
class Preset:
    """A link by the name that the user writes, with the source of its numbers; ours are called the project's choice."""

    name: str
    link: Link
    source: str


def parse_straggler(text: str, field: str = "straggler") -> Straggler:
    """Read ``none``, ``exponential:CV`` or ``lognormal:CV``; ``field`` opens the message of a refusal.

    Raises:
        NetworkError: If the kind is unknown, or the coefficient of variation is missing or impossible.

    >>> parse_straggler("lognormal:0.3")
    Straggler(kind='lognormal', cv=0.3)
    """
    if not isinstance(text, str) or len(text) > 64:
        raise NetworkError(f"{field}: write none, exponential:0.5 or lognormal:0.3.")
    kind, colon, rest = (part.strip() for part in text.partition(":"))
    kinds = get_args(StragglerKind)
    if kind not in kinds:
        hint = suggest(kind, kinds) or "Write none, exponential:0.5 or lognormal:0.3."
        raise NetworkError(f"{field}: {kind!a} is not a kind of straggler. {hint}")
    if kind == "none":
        if colon:
            raise NetworkError(f"{field}: {text!a}: none takes no number. Write none, or exponential:0.5.")
        return Straggler()
    if not NUMBER.fullmatch(rest):
        raise NetworkError(f"{field}: {rest!a} in {text!a} is not a number. Write {kind}:0.5.")
    cv = float(rest)
    if not 0 <= cv < math.inf:
        raise NetworkError(f"{field}: straggler.cv: {cv!r} is not a number, 0 or more.")
    if kind == "exponential" and cv > 1:
        why = f"is above 1, and a shifted exponential time would be negative. Use lognormal:{cv:g}."
        raise NetworkError(f"{field}: straggler.cv: {cv!r} {why}")
    if cv > _MAX_LOGNORMAL_CV:
        why = f"is above {_MAX_LOGNORMAL_CV:g}, where averages over draws are no longer trustworthy."
        raise NetworkError(f"{field}: straggler.cv: {cv!r} {why} Model such clients as absent instead.")
    return Straggler(cast(StragglerKind, kind), cv)


RATE = re.compile(r"[0-9] ?[kMGT]?(bit|bps|b/s|B/s|B|b)", re.ASCII)  # begins like a rate, as 20Mbit/s does
RATE_OF: Final = {"client": "--uplink ", "server": "--server-uplink "}


def link_preset(name: str, *, field: str = "link") -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        known, way = ", ".join(PRESETS), suggest(name, PRESETS)
        side = re.search("client|server|hub", field)
        if not way and RATE.search(name) and side:  # of which the table is told
            way = f"A rate is given as {RATE_OF.get(side[0], '--set network.server_link.up=')}{name:.20}."
        near = difflib.get_close_matches(name, PRESETS, n=2, cutoff=0.5)
        way = way or f"Did you mean {' or '.join(near)}?" * bool(near) or "Write one of these."
        raise NetworkError(f"{field}: {name!a} is not a link preset ({known}). {way}")
    return PRESETS[name]


_TABLE: Final = tomllib.loads(Path(__file__).with_name("link_presets.toml").read_text(encoding="utf-8"))
PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {name: Preset(name, source=row.pop("source"), link=Link(**row)) for name, row in _TABLE.items()}
)
"""Link presets by name. They are starting points for what nobody measured, and say so in ``source``."""


NOTHING = Link(up=1e30, down=1e30, payload_up=1e-30, payload_down=1e-30)
"""A link that takes no time and carries no bytes that count."""
