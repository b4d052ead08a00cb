"""Gradient-corrected learning: SCAFFOLD on one tier, and MTGC on a tree of stars.

SCAFFOLD (Karimireddy et al., 2020, Algorithm 1): the server has a variate c and each client one, c_i; a local step goes
against g_i(y) - c_i + c, and both are brought up to date after the local steps.

MTGC (Fang et al., 2024): a client's local step goes against g_i(y) + z_i + y_j, where z_i corrects the client to its
group and y_j the group to the whole. When K steps of the clients of a group are averaged, z_i grows by what client i
was off the average over K eta; when groups are averaged, y_j grows in the same way over P K eta. Here a tier of any
tree of stars has such a correction, with the chain of a call of its children for K or P K; two tiers are the paper's.

`reference_corrected` of the tests is the literal transcription that this file is tested against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor

from hflbounds.topology import Tier, Topology, TopologyError
from validation.algorithms.tree import CLIENTS
from validation.engine import Differentiable, Moment, Parameters, Problem, ValidationError, average, spread
from validation.mixing import at_least_one, same_number

FIRST = 1  # tells the mini-batch at a model that is received from those of the local steps
Option = Literal["I", "II"]
Begin = Literal["zero", "gradients", "kept"]


@dataclass(slots=True)
class Variates:
    """What SCAFFOLD remembers.

    Attributes:
        model: the server's, tensors of shape (runs, ...).
        server: its variate c, of the same shapes.
        clients: the variates c_i, tensors of shape (runs, clients, ...).
    """

    model: Parameters
    server: Parameters
    clients: Parameters


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaffold:
    """SCAFFOLD; variates are zero at first.

    Attributes:
        clients: N, how many.
        K: local steps of a client in a round.
        S: clients drawn in each round; None for all.
        option: of line 12: ``I``, the gradient at the server's model, on a mini-batch of its own; or ``II``, the mean
            of the local steps.
        eta_g: the server's rate.

    Raises:
        ValidationError: if an option is out of range.
    """

    clients: int
    K: int = 1
    S: int | None = None
    option: Option = "II"
    eta_g: float = 1.0

    def __post_init__(self) -> None:
        at_least_one("clients", self.clients)
        at_least_one("K", self.K)
        if self.S is not None and not 1 <= self.S <= self.clients:
            raise ValidationError(f"S = {self.S} is not between 1 and {self.clients}.")
        if self.option not in get_args(Option):
            raise ValidationError(f"option = {self.option!r} is none of {', '.join(get_args(Option))}.")
        if not self.eta_g > 0:
            raise ValidationError(f"eta_g = {self.eta_g} must be above 0.")

    def local_steps_per_round(self) -> int:
        """``eta_eff / eta`` at eta_g = 1."""
        return self.K

    def models(self, problem: Problem) -> int:
        """Models in training, and what is remembered of every client."""
        return (self.S or self.clients) + self.clients + 2

    def start(self, problem: Problem, runs: int) -> Variates:
        """One server per run.

        Raises:
            ValidationError: if the problem has another number of clients, or gives no gradients.
        """
        same_number(problem, self.clients, "clients")
        _differentiable(problem)
        model = tuple(part.expand(runs, *part.shape[1:]).clone() for part in problem.start())
        clients = tuple(part[:, None].repeat(1, self.clients, *(1,) * (part.ndim - 1)).zero_() for part in model)
        return Variates(model, tuple(torch.zeros_like(part) for part in model), clients)

    def iterate(self, state: Variates) -> Parameters:
        """The servers' models."""
        return state.model

    def round(self, state: Variates, problem: Problem, moment: Moment) -> Variates:
        """Lines 4-17."""
        runs, taking = len(moment.rates), self.S or self.clients
        where = moment.rates.device
        who = torch.arange(self.clients, device=where).expand(runs, -1)
        if self.S is not None:
            who = moment.orders(CLIENTS, lambda made: torch.randperm(self.clients, generator=made))[:, :taking]
        row, flat = torch.arange(runs, device=where)[:, None], who.reshape(-1)
        seeds, rates = moment.seed_at.repeat_interleave(taking), moment.rates.repeat_interleave(taking)
        own = tuple(part[row, who].flatten(0, 1) for part in state.clients)  # c_i
        begin, server = spread(state.model, taking), spread(state.server, taking)
        force = tuple(c - mine for c, mine in zip(server, own, strict=True))
        draws = problem.draws(moment.seeds, (moment.index, 0), self.K)
        models = tuple(part.clone() for part in begin)
        _descend(problem, models, flat, seeds, draws, rates, self.K, force)  # 8-11
        if self.option == "I":
            once = problem.draws(moment.seeds, (moment.index, 0, FIRST), 1)
            new = _differentiable(problem).gradients(begin, flat, seeds, once, 0)
        else:
            new = tuple(
                old - c + (x - y) / (self.K * _beside(rates, y))
                for old, c, x, y in zip(own, server, begin, models, strict=True)
            )
        moved = average(tuple(y - x for y, x in zip(models, begin, strict=True)), taking)
        change = average(tuple(a - b for a, b in zip(new, own, strict=True)), taking)
        for kept, value in zip(state.clients, new, strict=True):
            kept[row, who] = value.view(runs, taking, *value.shape[1:])  # 14
        share = taking / self.clients
        return Variates(
            tuple(x + self.eta_g * step for x, step in zip(state.model, moved, strict=True)),  # 17
            tuple(c + share * step for c, step in zip(state.server, change, strict=True)),
            state.clients,
        )


@dataclass(slots=True)
class Corrections:
    """What MTGC remembers.

    Attributes:
        model: the server's, tensors of shape (runs, ...).
        tiers: of every tier, top first, the corrections of its children, tensors of shape (runs * children, ...).
    """

    model: Parameters
    tiers: tuple[Parameters, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrected:
    """MTGC on a tree of stars in which everybody takes part.

    Attributes:
        topology: the tiers with their sizes, top first.
        K: local steps of a client each time it takes part.
        begin: what corrections are when their node receives a model: ``zero``, as in the code that the authors
            publish; ``gradients``, the gap of gradients on one more mini-batch of every client; or ``kept``, what they
            were. Those of the top tier are kept in all three, and begin with training.

    Raises:
        ValidationError: if a tier is not a full star, or an option is out of range.
    """

    topology: Topology
    K: int = 1
    begin: Begin = "zero"

    def __post_init__(self) -> None:
        at_least_one("K", self.K)
        if self.begin not in get_args(Begin):
            raise ValidationError(f"begin = {self.begin!r} is none of {', '.join(get_args(Begin))}.")
        if any(tier.pattern.ordered or tier.sampled for tier in self.topology.tiers):
            raise ValidationError(
                f"{self.topology.id}: corrections are known for stars in which everybody takes part: use star tiers "
                "and leave out what is drawn."
            )

    def local_steps_per_round(self) -> int:
        """``eta_eff / eta``."""
        return self.topology.local_steps(self.K)

    def models(self, problem: Problem) -> int:
        """Models in training, and a correction of every node."""
        sizes = [tier.taking_part for tier in self.topology.tiers]
        return 2 * self.topology.clients + sum(math.prod(sizes[: level + 1]) for level in range(len(sizes)))

    def start(self, problem: Problem, runs: int) -> Corrections:
        """One server per run, and corrections of zero.

        Raises:
            ValidationError: if the problem has another number of clients, or gives no gradients.
        """
        same_number(problem, self.topology.clients, "clients")
        _differentiable(problem)
        model = tuple(part.expand(runs, *part.shape[1:]).clone() for part in problem.start())
        tiers, nodes = [], model
        for tier in self.topology.tiers:
            nodes = tuple(torch.zeros_like(part) for part in spread(nodes, tier.taking_part))
            tiers.append(nodes)
        return Corrections(model, tuple(tiers))

    def iterate(self, state: Corrections) -> Parameters:
        """The servers' models."""
        return state.model

    def round(self, state: Corrections, problem: Problem, moment: Moment) -> Corrections:
        """One global round."""
        turn = _Turn(self, state, problem, moment)
        if moment.index == 0 and self.begin == "gradients":
            turn.renew(0, 0, state.model)
        return Corrections(turn.call(0, 0, state.model), state.tiers)


class _Turn:
    """One global round of MTGC: all nodes of a tier work side by side."""

    def __init__(self, told: Corrected, state: Corrections, problem: Problem, moment: Moment) -> None:
        self.told, self.state, self.problem, self.moment = told, state, problem, moment
        self.sizes = [tier.taking_part for tier in told.topology.tiers]
        self.chains = told.topology.chains(told.K)
        clients = told.topology.clients
        self.who = torch.arange(clients, device=moment.rates.device).repeat(len(moment.rates))
        self.seeds = moment.seed_at.repeat_interleave(clients)
        self.rates = moment.rates.repeat_interleave(clients)

    def call(self, level: int, turn: int, models: Parameters) -> Parameters:
        """Models of all nodes of a depth after a call, from those they received; which call decides what is drawn."""
        if level == len(self.sizes):
            draws = self.problem.draws(self.moment.seeds, (self.moment.index, turn), self.told.K)
            parts = [spread(tier, len(self.who) // len(tier[0])) for tier in self.state.tiers]
            force = tuple(sum(some[1:], start=some[0]) for some in zip(*parts, strict=True))
            models = tuple(part.clone() for part in models)
            _descend(self.problem, models, self.who, self.seeds, draws, self.rates, self.told.K, force)
            return models
        if level > 0 and self.told.begin == "zero":
            for part in self.state.tiers[level]:
                part.zero_()
        if level > 0 and self.told.begin == "gradients":
            self.renew(level, turn, models)
        passes = self.told.topology.tiers[level].passes
        for again in range(passes):
            ends = self.call(level + 1, turn * passes + again, spread(models, self.sizes[level]))
            models = average(ends, self.sizes[level])
            self._correct(level, ends, models, 1 / self.chains[level + 1])
        return models

    def renew(self, level: int, turn: int, models: Parameters) -> None:
        """Set the corrections below nodes of a depth to the gaps of gradients at the models they received."""
        draws = self.problem.draws(self.moment.seeds, (self.moment.index, turn, level, FIRST), 1)
        at = spread(models, len(self.who) // len(models[0]))
        slopes = _differentiable(self.problem).gradients(at, self.who, self.seeds, draws, 0)
        children = average(slopes, math.prod(self.sizes[level + 1 :]))
        means = spread(average(children, self.sizes[level]), self.sizes[level])
        for kept, child, mean in zip(self.state.tiers[level], children, means, strict=True):
            kept.copy_(mean - child)

    def _correct(self, level: int, ends: Parameters, means: Parameters, share: float) -> None:
        for kept, end, mean in zip(self.state.tiers[level], ends, spread(means, self.sizes[level]), strict=True):
            rates = self.moment.rates.repeat_interleave(len(end) // len(self.moment.rates))
            kept.add_((end - mean) / _beside(rates, end), alpha=share)


def _descend(  # reason: what a local step of the engine is told, and the correction
    problem: Problem,
    models: Parameters,
    clients: Tensor,
    seeds: Tensor,
    draws: Any,
    rates: Tensor,
    steps: int,
    force: Parameters,
) -> None:
    """Take local steps against the stochastic gradient plus what corrects it, in place."""
    for step in range(steps):
        slopes = _differentiable(problem).gradients(models, clients, seeds, draws, step)
        for part, slope, more in zip(models, slopes, force, strict=True):
            part.sub_((slope + more).mul_(_beside(rates, part)))


def _beside(rates: Tensor, part: Tensor) -> Tensor:
    return rates.view(-1, *(1,) * (part.ndim - 1))


def _differentiable(problem: Problem) -> Differentiable:
    if not hasattr(problem, "gradients"):
        raise ValidationError("corrections need gradients, and this problem gives local steps only: use 'fedavg'.")
    return cast(Differentiable, problem)


def mtgc(*, G: int, M: int, P: int = 1, K: int = 1, begin: Begin = "zero") -> Corrected:
    """MTGC on Star-Star.

    Args:
        G: groups.
        M: clients in each group.
        P: group rounds in a global round.
        K: local steps of a client in a group round.
        begin: as of `Corrected`.

    Raises:
        ValidationError: if a count is out of range.
    """
    for name, number in (("G", G), ("M", M), ("P", P)):
        at_least_one(name, number)
    return Corrected(topology=Topology((Tier("star", G), Tier("star", M, passes=P))), K=K, begin=begin)


def mtgc_tree(*, sizes: str, passes: str | None = None, K: int = 1, begin: Begin = "zero") -> Corrected:
    """The same correction at every tier of a tree of stars of any depth.

    Args:
        sizes: children of a node of each tier, top first, as in ``4/5/20``.
        passes: of each tier; None for one.
        K: local steps of a client.
        begin: as of `Corrected`.

    Raises:
        ValidationError: if the words do not describe a tree.
    """
    try:
        numbers = [None if text is None else [int(one) for one in text.split("/")] for text in (sizes, passes)]
        stars = Topology.parse("/".join(["star"] * len(numbers[0] or ())))
        return Corrected(topology=stars.sized(numbers[0] or (), passes=numbers[1]), K=K, begin=begin)
    except TopologyError as error:
        raise ValidationError(str(error)) from None
    except ValueError:
        raise ValidationError("sizes and passes are whole numbers, top first, as in 4/5/20.") from None


MAKERS: Mapping[str, Callable[..., Any]] = {"scaffold": Scaffold, "mtgc": mtgc, "mtgc-tree": mtgc_tree}
