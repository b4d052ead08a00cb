"""The published table of cycle times: five networks, three models; the printed numbers are the oracle."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from published_overlays import MODELS, Place, close, line, published

NETWORKS = ["gaia", "aws-na", "geant", "exodus", "ebone"]
PAGE = (Path(__file__).parents[3] / "docs" / "evidence" / "cycle-times.md").read_text().splitlines()
ROWS = {(row["model"], row["network"]): row for row in published()}


SERVERS = {"gaia": "Virginia", "aws-na": "Ashburn", "geant": "NL"}  # where the source puts them
LARGE = ("exodus", "ebone")  # of 79 and of 87 routers, with -m slow, as are two of the three models on 22 and on 40


@pytest.mark.parametrize(
    ("model", "network"),
    [
        pytest.param(*one, marks=pytest.mark.slow if one[0] != "FEMNIST" or one[1] in LARGE else ())
        for one in product(MODELS, NETWORKS)
    ],
)
def test_overlays_take_what_was_published(model: str, network: str) -> None:
    row = {kind: float(value) for kind, value in ROWS[model, network].items() if kind not in ("model", "network")}
    found = Place(model, network).found()
    if model == "FEMNIST" and network in SERVERS:
        assert found["server"].partition(",")[0] == SERVERS[network]
    if (model, network) == ("iNaturalist", "geant"):
        # The way over another node is shorter there, of which the source counts the transfer of the last leg alone.
        assert found["star"] - row["star"] > 10
    else:
        assert close("star", found["star"], row["star"])
    assert close("star", found["star, their way"], row["star"])
    assert close("tree", found["tree"], row["tree"])
    assert close("delta-tree", found["delta-tree"], row["delta-tree"])
    assert close("ring", found["ring, Christofides"], row["ring"])
    assert found["ring"] <= 1.005 * min(
        row["ring"], found["ring, Christofides"]
    )  # both are tours; ours is searched for
    assert found["star, best place"] <= found["star"]
    # The division into matchings is not determined.
    assert found["matcha"] == pytest.approx(row["matcha"], rel=0.06)
    assert line(ROWS[model, network], found) in PAGE  # published_overlays.py --write docs/evidence/cycle-times.md


def test_the_networks_are_those_of_the_papers() -> None:
    sizes = {n: (len((u := Place("FEMNIST", n).network).places), len(u.ends) // 2) for n in NETWORKS}
    assert sizes == {"gaia": (11, 55), "aws-na": (22, 231), "geant": (40, 61), "exodus": (79, 147), "ebone": (87, 161)}
