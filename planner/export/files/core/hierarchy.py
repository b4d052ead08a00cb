"""The plan, and its loop: a node calls its children, tier after tier, at any depth."""

from __future__ import annotations

import json
import platform
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Model = list[NDArray[Any]]


class Node(NamedTuple):
    """A group with its children, or a client; ``place`` numbers it from the root.

    ``weight`` is what it counts in a mean.
    """

    name: str
    place: tuple[int, ...]
    weight: float
    client: int = -1
    children: Sequence[Any] = ()


class Job(NamedTuple):
    """What a client is asked: its number, the round, the pass of every tier; from 0."""

    client: int
    round: int
    passes: tuple[int, ...]


class Done(NamedTuple):
    """What a client returns: its model, the time of its steps [s], the bytes moved.

    ``machines`` are those that it ran on; none where that was this process.
    """

    model: Model
    seconds: float
    bytes: int = 0
    machines: Sequence[str] = ()


@dataclass(frozen=True)
class Plan:
    """What the loop needs of plan.toml."""

    id: str
    target: str
    tiers: list[dict[str, Any]]
    clients: dict[str, str]
    rounds: int
    local_steps: int
    rate: float
    seed: int
    root: Node

    def asked(self, job: Job) -> dict[str, Any]:
        """Return the arguments of `task.train` beside the model."""
        return {
            "client": list(self.clients)[job.client],
            "steps": self.local_steps,
            "rate": self.rate,
            "seed": [self.seed, job.client, job.round, *job.passes],
        }


def read_plan(path: Path) -> Plan:
    """Read plan.toml; groups come in the order of their first clients."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    table.pop("predicted")
    depth, weights = len(table["tiers"]), table.pop("weights", {})
    paths = [(*filter(None, g.split("/")), c) for c, g in table["clients"].items()]
    if wrong := [path[-1] for path in paths if len(path) != depth]:
        raise ValueError(f"plan.toml: {wrong[0]} is not below {depth - 1} groups")

    def node(name: str, place: tuple[int, ...], members: Sequence[int]) -> Node:
        weight = weights.get("/".join(paths[members[0]][: len(place)]), 1.0)
        if len(place) == depth:
            return Node(name, place, weight, members[0])
        below: dict[str, list[int]] = {}
        for i in members:
            below.setdefault(paths[i][len(place)], []).append(i)
        children = [node(n, (*place, c), below[n]) for c, n in enumerate(below)]
        return Node(name, place, weight, -1, children)

    return Plan(root=node("", (), range(len(paths))), **table)


def taking_part(plan: Plan, node: Node, number: int) -> list[Node]:
    """List the children of a node that take part in a global round, in their order."""
    tier, children = plan.tiers[len(node.place)], list(node.children)
    drawn = min(int(tier["drawn"]), len(children))
    if drawn == len(children) and tier["order"] == "fixed":
        return children
    draw = np.random.default_rng([plan.seed, number, *(i + 1 for i in node.place)])
    return [children[i] for i in draw.permutation(len(children))[:drawn]]


def mean(models: Iterable[Model], nodes: Sequence[Node]) -> Model:
    """Average the models of nodes by their weights."""
    counts = [node.weight for node in nodes]
    stacks = zip(*models, strict=True)
    return [np.asarray(sum(map(mul, counts, one)) / sum(counts)) for one in stacks]


def side_by_side(call: Callable[[Node], Model], nodes: Sequence[Node]) -> list[Model]:
    """Call the children of a star in a thread each."""
    with ThreadPoolExecutor(len(nodes)) as pool:
        return list(pool.map(call, nodes))


Each = Callable[..., Iterable[Model]]  # calls the children of a star, as map does
Train = Callable[..., Done]  # trains a model by a job; by the jobs of a ring at once


def global_round(
    plan: Plan, model: Model, number: int, train: Callable[..., Model], each: Each = map
) -> Model:
    """Run one global round.

    A ring passes the model from child to child, a star averages what its children
    return, which run through ``each``. ``train`` takes a model and a job; the jobs of
    a ring of clients at once, in their order, where the lowest tier has ``chain``.
    """

    def call(node: Node, model: Model, passes: tuple[int, ...]) -> Model:
        if node.client >= 0:
            return train(model, Job(node.client, number, passes))
        tier = plan.tiers[len(node.place)]
        for turn in range(tier["passes"]):
            nodes, now = taking_part(plan, node, number), (*passes, turn)
            if tier["pattern"] == "star":
                model = mean(each(partial(call, model=model, passes=now), nodes), nodes)
            elif "chain" in tier:
                model = train(model, *(Job(n.client, number, now) for n in nodes))
            else:
                model = reduce(lambda m, child: call(child, m, now), nodes, model)
        return model

    return call(plan.root, model, ())


def run(
    plan: Plan, task: Any, train: Train, folder: Path, rounds: int, each: Each = map
) -> None:
    """Run the rounds; write after each what it took, and the model at the end."""
    told: dict[str, Any] = {"schema": "hfl-plan/measured/1", "plan": plan.id}
    told |= {"target": plan.target, "sample": getattr(task, "SAMPLE", False)}
    here, model, told["rounds"] = platform.node(), task.initial_model(), []
    for number in range(rounds):
        seen: list[tuple[Done, int, float]] = []

        def timed(model: Model, *jobs: Job, seen: list[Any] = seen) -> Model:
            begin = time.perf_counter()
            done = train(model, *jobs)
            seen.append((done, len(jobs), time.perf_counter() - begin))
            return done.model

        begin = time.perf_counter()
        model = global_round(plan, model, number, timed, each)
        last = {
            "seconds": time.perf_counter() - begin,
            "bytes": sum(done.bytes for done, *_ in seen),
            "calls": sum(jobs for _, jobs, _ in seen),
            "work_seconds": sum(done.seconds for done, *_ in seen),  # of local steps
            "call_seconds": sum(waited for *_, waited in seen),  # and of the way
            # whether every model went to another machine and back
            "over_network": all(m and here not in m for (*_, m), *_ in seen),
            "metric": task.evaluate(model),
        }
        told["rounds"].append(last)
        part = folder / "measured.part"
        part.write_text(json.dumps(told, indent=1) + "\n")
        part.replace(folder / "measured.json")
        print(f"round {number + 1}: metric {last['metric']:.6g}", flush=True)
    np.savez(folder / "model.npz", *model)
