"""Topologies against the rules of a call written out: every local step of a round in its order, counted."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hflbounds import Bound, catalogue
from hflbounds.topology import (
    Tier,
    Topology,
    TopologyError,
    all_topologies,
    pattern,
    patterns,
    tier_symbols,
    two_tier,
)

WORDS = st.sampled_from([*patterns()])
TREES = st.lists(
    st.tuples(WORDS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["fixed", "random"])),
    min_size=1,
    max_size=3,
).map(lambda rows: Topology(tuple(Tier(w, max(n, s), s, p, order=o) for w, n, s, p, o in rows)))


def steps(tiers: tuple[Tier, ...], K: int, begin: int = 0) -> list[int]:
    """Positions in the chain of all local steps of one call, by the definition of a star and of a ring."""
    if not tiers:
        return [*range(begin, begin + K)]
    found: list[int] = []
    for _ in range(tiers[0].passes):
        start = begin
        for _ in range(tiers[0].taking_part):
            child = steps(tiers[1:], K, start)
            found += child
            if tiers[0].pattern.id == "ring":
                start = max(child) + 1
        begin = max(found) + 1
    return found


@settings(deadline=None)  # slow where lines are traced
@given(TREES, st.integers(1, 3))
def test_chains_work_and_models_are_those_of_the_steps_in_order(tree: Topology, K: int) -> None:
    chains, beside = tree.chains(K), tree.side_by_side
    assert len(chains) == len(beside) == tree.depth + 1
    assert (chains[-1], beside[-1]) == (K, 1)
    for depth in range(tree.depth + 1):
        positions = steps(tree.tiers[depth:], K)
        assert Counter(positions) == dict.fromkeys(range(chains[depth]), beside[depth])  # B_l, 1/lambda_l
    assert tree.work(K) == len(steps(tree.tiers, K)) == chains[0] * tree.models
    assert tree.local_steps(K) == chains[0]


@given(TREES, st.integers(1, 3))
def test_the_numbers_of_the_theorem_for_any_depth(tree: Topology, K: int) -> None:
    """T, N, B_l and lambda_l by the formulas of the statement."""
    rho = [tier.taking_part if tier.pattern.id == "ring" else 1 for tier in tree.tiers]
    chain = [K]
    for tier, one in zip(reversed(tree.tiers), reversed(rho), strict=True):
        chain.insert(0, tier.passes * one * chain[0])
    assert tree.chains(K) == tuple(chain)
    assert tree.work(K) == K * prod(tier.taking_part * tier.passes for tier in tree.tiers)
    for depth in range(tree.depth + 1):
        stars = [tier.taking_part for tier in tree.tiers[depth:] if tier.pattern.id == "star"]
        assert Fraction(1, tree.side_by_side[depth]) == prod((Fraction(1, n) for n in stars), start=Fraction(1))


@given(st.lists(WORDS, min_size=1, max_size=8), st.sampled_from(["/", "-", ",", " ", " > ", "|", "_"]))
def test_a_topology_is_read_back_from_what_is_written(words: list[str], between: str) -> None:
    tree = Topology.parse(f" {between.join(words)} ".upper())
    assert [one.id for one in tree.patterns] == words
    assert Topology.of(tree.id) == tree == Topology.parse(tree.title) and Topology.of(tree) is tree
    assert str(tree) == tree.title == "-".join(pattern(word).title for word in words)
    assert tree.depth == len(words)


@given(TREES)
def test_equal_topologies_are_equal_in_every_process(tree: Topology) -> None:
    again = pickle.loads(pickle.dumps(tree))  # noqa: S301 - our own bytes
    assert again == tree and hash(again) == hash(tree)
    assert all(a is b for a, b in zip(again.patterns, tree.patterns, strict=True))
    assert Topology(tree.tiers) == tree
    bigger = tree.sized([tier.taking_part + 5 for tier in tree.tiers])
    assert bigger != tree and bigger.id == tree.id


@given(TREES)
def test_one_child_alone_is_no_pattern(tree: Topology) -> None:
    for words in product(patterns(), repeat=tree.depth):
        other = Topology(
            tuple(
                Tier(word, tier.size, tier.drawn, tier.passes, order=tier.order)
                for word, tier in zip(words, tree.tiers, strict=True)
            )
        )
        pairs = zip(tree.tiers, other.patterns, strict=True)
        equal = all(tier.pattern is pattern or tier.taking_part == 1 for tier, pattern in pairs)
        assert (tree.same_algorithm() == other.same_algorithm()) is equal
    assert tree.same_algorithm().same_algorithm() == tree.same_algorithm()
    assert tree.same_algorithm().chains(3) == tree.chains(3)


def test_chance_decides_where_children_are_drawn_or_ordered_at_random() -> None:
    assert not two_tier("ring-ring", G=3, M=2).drawn
    assert two_tier("ring-star", G=3, M=2, order="random").drawn
    assert not two_tier("star-star", G=3, M=2, order="random").drawn  # the order of a star means nothing
    assert two_tier("star-star", G=3, M=2, S2=1).drawn
    assert not two_tier("star-star", G=3, M=2, S1=3, S2=2).drawn  # all of them


def test_numbers_are_given_later_and_the_rest_stays() -> None:
    tree = Topology((Tier("star", 4, drawn=2, passes=3), Tier("ring")))
    with pytest.raises(TopologyError, match="size was not given"):
        _ = tree.taking_part
    sized = tree.sized((6, 5), order="random")
    assert sized.tiers == (Tier("star", 6, 2, 3, "random"), Tier("ring", 5, order="random"))
    assert (sized.clients, sized.taking_part, sized.chains(2), sized.models) == (30, 10, (30, 10, 2), 2)
    assert two_tier("star-ring", G=10, M=7, P=3, S1=4) == Topology((Tier("star", 10, 4), Tier("ring", 7, passes=3)))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_topologies_of_a_depth(depth: int) -> None:
    found = all_topologies(depth)
    assert len(found) == len(patterns()) ** depth
    assert all(name == tree.id and tree == Topology.parse(name) for name, tree in found.items())
    first = next(iter(patterns().values()))
    assert {*next(iter(found.values())).patterns} == {first}


def test_letters_of_tiers() -> None:
    assert [(s.size, s.drawn, s.passes, s.deviation) for s in tier_symbols(2)] == [
        ("G", "S1", None, "delta"),
        ("M", "S2", "P", "zeta"),
    ]
    assert [s.passes for s in tier_symbols(3)] == [None, "P2", "P3"]
    for depth in range(1, 9):
        names = [n for s in tier_symbols(depth) for n in (s.size, s.drawn, s.passes, s.deviation) if n]
        assert len(names) == len({*names}) == 4 * depth - 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Topology(()), "0 tiers are not 1 to 8"),
        (lambda: Topology.parse("-".join(["ring"] * 9)), "9 tiers"),
        (lambda: Topology.parse(""), "0 tiers"),
        (lambda: Topology.parse("ring-stra"), "'stra' is not a pattern.*star, ring.*Did you mean star"),
        (lambda: Topology.parse("mesh"), "'mesh' is not a pattern"),
        (lambda: Tier("ring", 0), "size: 0 is not a whole number"),
        (lambda: Tier("ring", True), "size: True"),
        (lambda: Tier("ring", 2.0), "size: 2.0"),  # type: ignore[arg-type]
        (lambda: Tier("ring", passes=0), "passes: 0"),
        (lambda: Tier("ring", 3, drawn=4), "drawn: 4 is more than its size, 3"),
        (lambda: Tier("ring", 3, order="sorted"), "'sorted' is not one of fixed, random"),  # type: ignore[arg-type]
        (lambda: two_tier("ring", G=2, M=2), "sizes: 2 numbers for 1 tiers"),
        (lambda: Topology.parse("ring-ring").sized((2, 2), passes=(1,)), "passes: 1 numbers for 2 tiers"),
        (lambda: two_tier("ring-ring", G=2, M=2, S1=3), "drawn: 3 is more than its size, 2"),
    ],
)
def test_what_cannot_be_meant_is_refused(make, says) -> None:
    with pytest.raises(TopologyError, match=says):
        make()


def test_meaning_names_the_children_of_every_tier() -> None:
    said = Topology.parse("star-ring").meaning("group", "client")
    assert "group" in said and "client" in said and "{" not in said
    with pytest.raises(ValueError, match="zip"):
        Topology.parse("star-ring").meaning("client")


CHAINED = [bound for bound in catalogue().values() if bound.topology and bound.chain is not None]


@pytest.mark.parametrize("bound", CHAINED, ids=lambda bound: bound.id)
def test_bounds_chain_the_local_steps_of_their_topology(bound: Bound) -> None:
    """``eta_eff / eta`` of the papers, against the count of the tree."""
    for counts in ({"G": 7, "M": 5, "P": 3, "K": 2}, {"G": 1, "M": 4, "P": 1, "K": 9}):
        drawn = {"S1": max(counts["G"] - 2, 1), "S2": 3}
        names = {symbol.name for symbol in bound.chain.symbols}
        used = drawn if names & {"S1", "S2"} or "thm2" in bound.id or "partial" in bound.id else {}
        tree = two_tier(bound.topology, G=counts["G"], M=counts["M"], P=counts["P"], **used)
        assert bound.chain_length(**counts, **drawn) == tree.local_steps(counts["K"])


def test_every_topology_of_two_tiers_has_bounds() -> None:
    assert {bound.topology for bound in CHAINED} == {*all_topologies(2)}


def test_sizes_stand_behind_their_patterns_or_are_given_later() -> None:
    assert Topology.parse("ring:4/star:5") == Topology((Tier("ring", 4), Tier("star", 5)))
    assert [tier.size for tier in Topology.parse("Ring:4 > star").tiers] == [4, None]
    assert Topology.parse("ring:4/star:5") == Topology.parse("ring/star").sized((4, 5))
    for wrong, said in (("ring:x", "the size 'x'"), ("ring:", "the size ''"), ("star:0", "tier size: 0"), (":4", "''")):
        with pytest.raises(TopologyError, match=said):
            Topology.parse(wrong)
