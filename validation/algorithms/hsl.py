"""Hubs and Spokes Learning: sharma2025, Section 3.

The text that was read describes Algorithm 1 in words and has lost its formulas. `reference_gossip` of the tests is the
transcription of those words that this file is tested against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hflbounds.catalog.sharma2025 import paper
from hflbounds.mixing import Array, HubSpoke
from validation.mixing import Gossip

SOURCE = paper.at("Section 3, Algorithm 1 as described in the text")


@dataclass(frozen=True, kw_only=True, slots=True)
class HSL(Gossip):
    """Spokes train; hubs average spokes, gossip among themselves, and spokes average hubs.

    Attributes:
        n_s: spokes.
        n_h: hubs.
        b_hs: spokes that each hub averages.
        b_hh: other hubs that each hub sends to.
        b_sh: hubs that each spoke averages.

    Raises:
        ValidationError: if a budget is larger than what it is spent on.
    """

    n_s: int
    n_h: int
    b_hs: int
    b_hh: int
    b_sh: int

    def law(self) -> HubSpoke:
        """The law of a round's matrices."""
        return HubSpoke(self.n_s, self.n_h, self.b_hs, self.b_hh, self.b_sh)

    @property
    def weights(self) -> int:
        """Of the three stages."""
        return self.n_h * (2 * self.n_s + self.n_h)

    def stages(self, rng: np.random.Generator) -> Sequence[Array]:
        """Spokes to hubs, among hubs, hubs to spokes."""
        return self.law().stages(rng)


MAKERS = {"hsl": HSL}
