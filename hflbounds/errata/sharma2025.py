"""HSL: what the text says of its mixing factors that the mixing does not bear out.

Displayed formulas are missing from the copy that was read, so these concern the prose, what the protocol pins down,
and (S8) the public code; none is about a formula's print.
"""

from __future__ import annotations

import numpy as np

from hflbounds.catalog.own_hsl import delta_hh, hsl_exact
from hflbounds.catalog.sharma2025 import beta, beta_hh
from hflbounds.core.bound import Erratum, Evidence
from hflbounds.core.expression import choice
from hflbounds.core.quantities import b_sh, n_h
from hflbounds.derive.sharma2025 import all_pushes
from hflbounds.mixing import HubSpoke, Mixing, Push, gap

UNIT = {"sigma": 1.0, "H": 1.0, "step": 0.05}


def stationary_loss(mixing: Mixing, eigenvalue: float, sigma: float, H: float, step: float) -> tuple[float, float]:
    """Where SGD with this mixing settles on F_i = |x - c_i|^2/2: expected loss above F*, and its part at the average.

    Exact, because with equal curvatures the second moments follow a linear recursion.

    Args:
        mixing: one that does not change when nodes are renamed, with exact moments.
        eigenvalue: of the expected matrix, on models with mean zero.
        sigma: standard deviation of the gradients' noise.
        H: root mean square distance of the c_i to their mean.
        step: of the local step.
    """
    n, ratio, move = mixing.nodes, mixing.consensus_ratio().value, mixing.mean_deviation().value
    stay = 1 - step
    # Means over nodes of <x_i - mean, c_i - mean> and of |x_i - mean|^2, before the local step; then after it.
    cross = eigenvalue * step * H**2 / (1 - eigenvalue * stay)
    fresh = 2 * stay * step * cross + step**2 * (H**2 + sigma**2 * (1 - 1 / n))
    distance = ratio * fresh / (1 - ratio * stay**2)
    half_way = stay**2 * distance + fresh
    average = (step**2 * sigma**2 / n + move * half_way) / (1 - stay**2)
    return (average + distance) / 2, average / 2


def _lower_factor_higher_loss() -> Evidence:
    better, worse = HubSpoke(n_s=100, n_h=1, b_hs=1, b_hh=0, b_sh=1), Push(n=100, s=4)
    pushed = worse.consensus_ratio().value + worse.mean_deviation().value
    return Evidence(
        instance="100 clients |x - c_i|^2/2, unit noise and spread, step 0.05: one hub that copies one spoke, "
        "beta = 0, against EL-Local with s = 4, beta = 0.236; loss above the optimum at the stationary state",
        printed=stationary_loss(worse, pushed, **UNIT)[0],
        found=stationary_loss(better, 0.0, **UNIT)[0],
    )


def unsquared_ratio(models: tuple[int, ...], b: int) -> float:
    """Mean distance to the mean after push gossip over that before, in expectation over every draw."""
    x = np.array(models, dtype=float)
    weights, scale = all_pushes(len(x), b)
    mixed = weights @ x / scale
    after = np.abs(mixed - mixed.mean(axis=1, keepdims=True)).mean()
    return float(after / np.abs(x - x.mean()).mean())


def _unsquared() -> Evidence:
    return Evidence(
        instance="four nodes at -1, -1, 1, 1, each sends to one other: every draw counted, distances not squared",
        printed=beta_hh.value({"n_h": 4, "b_hh": 1}),
        found=unsquared_ratio((-1, -1, 1, 1), 1),
    )


def gap_of_a_draw() -> float:
    """Spectral gap of a draw of push gossip, each of four nodes to one other, in which two nodes hear nobody."""
    heard = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
    return gap(heard / heard.sum(axis=1, keepdims=True))


def _gap_of_one_sample() -> Evidence:
    return Evidence(
        instance="push gossip of four nodes, each to one other, a draw in which nodes 3 and 4 hear nobody: "
        "1 less the gap, against the expected factor",
        printed=1 - gap_of_a_draw(),
        found=beta_hh.value({"n_h": 4, "b_hh": 1}),
        relation="==",
    )


def local_steps_floor(steps: int, step: float) -> float:
    """Squared gradient where full averaging settles on two clients a_i (x - c_i)^2/2, without noise.

    ``a`` is 1 and 1/4, ``c`` is 1 and -1; each takes ``steps`` steps between averages.
    """
    kept = [(1 - step * a) ** steps for a in (1.0, 0.25)]
    still = sum((1 - k) * c for k, c in zip(kept, (1, -1), strict=True)) / sum(1 - k for k in kept)
    return (((still - 1) + 0.25 * (still + 1)) / 2) ** 2


def _local_steps() -> Evidence:
    return Evidence(
        instance="two clients of curvature 1 and 1/4, no noise, full averaging (beta = kappa = 0), three local steps "
        "at 1/20: squared gradient in the long run, which the theorem for one local step bounds by 4 A/(step T) -> 0",
        printed=0.0,
        found=local_steps_floor(3, 0.05),
    )


def restarted_from_one(s: int, step: float, rounds: int, rng: np.random.Generator, n: int = 100) -> float:
    """Loss above F* of EL where every round restarts all nodes from node 0's model; mean over the second half."""
    centers = rng.standard_normal(n)
    centers = (centers - centers.mean()) / centers.std()
    x, seen = 0.0, []
    for _ in range(rounds):
        moved = x - step * (x - centers) + step * rng.standard_normal(n)
        others = rng.permutation(np.arange(1, n))[:s]
        x = float(moved[np.append(0, others)].mean())
        seen.append(x * x / 2)
    return float(np.mean(seen[rounds // 2 :]))


def _restarted() -> Evidence:
    push = Push(n=100, s=4)
    pushed = push.consensus_ratio().value + push.mean_deviation().value
    return Evidence(
        instance="100 clients |x - c_i|^2/2, unit noise and spread, step 0.05, four neighbours: EL-Local as printed, "
        "against all nodes restarted from node 0's model in every round",
        printed=stationary_loss(push, pushed, **UNIT)[1],
        found=restarted_from_one(4, 0.05, 4000, np.random.default_rng(0)),
    )


ERRATA = (
    Erratum(
        id="sharma2025.S1",
        place="Section 4.2; Figures 2 and 3",
        printed="a lower mixing factor is better mixing, and so better training",
        proved="the mixing also moves the average, by kappa times the consensus distance; that enters the leading term",
        because="the mixing factor does not see a move that all spokes make together",
        effect="without limit: beta = 0 with kappa = 1 is the worst of all; ranking by beta alone inverts orders, and "
        "a linear speed-up needs n_h b_hs of about n_s",
        gravity="claim",
        demonstrate=_lower_factor_higher_loss,
        concerns=("sharma2025.beta", "sharma2025.thm4-4", "sharma2025.thm4-4-order"),
    ),
    Erratum(
        id="sharma2025.S2",
        place="Lemma A.2, item 4",
        printed=beta,
        proved=hsl_exact.terms["consensus_distance"],
        because="each factor is exact about the average before its stage, and the consensus distance is about the "
        "average after it",
        effect="the product is 1.1 to 2 times too large at ordinary budgets; seldom changes an order",
        gravity="loose",
        witness={"n_s": 100, "n_h": 10, "b_hs": 15, "b_hh": 5, "b_sh": 2},
        concerns=("sharma2025.beta",),
    ),
    Erratum(
        id="sharma2025.S3",
        place="Lemma A.3, item 2",
        printed=beta_hh / n_h,
        proved=delta_hh,
        because="two nodes of push gossip average some of the same models, so their errors are not independent",
        effect="the move of the average 5 to 12 times too large; changes where EL-Local overtakes HSL on long runs",
        gravity="loose",
        witness={"n_h": 3, "b_hh": 1},
        concerns=("sharma2025.kappa", "devos2023.el-local"),
    ),
    Erratum(
        id="sharma2025.S4",
        place="Lemma A.2, the factors at n_h = 1 or n_s = 1",
        printed=(1 - (b_sh - 1) / (n_h - 1)) / b_sh,
        proved=choice(n_h <= 1, 0, (1 - (b_sh - 1) / (n_h - 1)) / b_sh),
        because="0/0: a single node has no distance to its own average",
        effect="a program that computes the formula stops, at the design in which HSL is federated averaging",
        gravity="algebra",
        witness={"n_h": 1, "b_sh": 1},
        concerns=("sharma2025.beta-hs", "sharma2025.beta-hh", "sharma2025.beta-sh", "sharma2025.beta"),
    ),
    Erratum(
        id="sharma2025.S5",
        place="Section 2, the sentence before eq. (2); Section 5, the plots of the ratio",
        printed="the consensus distance is the average Euclidean distance to the mean, and beta bounds its ratio",
        proved="every factor bounds the ratio of mean squared distances; that of distances is near its square root",
        because="the lemmas expand squared norms",
        effect="a square root: a measured negative logarithm of the ratio is to be doubled before it meets beta",
        gravity="claim",
        demonstrate=_unsquared,
        concerns=("sharma2025.beta", "sharma2025.beta-hh"),
        artefact=True,
    ),
    Erratum(
        id="sharma2025.S6",
        place="Section 5, spectral gap; Figure 5",
        printed="the spectral gap of a sampled mixing matrix measures how fast a protocol mixes",
        proved="the expected factor can be far below 1 where the gap of every draw is 0",
        because="two nodes that hear nobody are two left eigenvectors of eigenvalue 1; and eigenvalues of a matrix "
        "that is not normal do not bound distances",
        effect="push gossip at small budgets seems not to mix at all; no ranking of EL-Local and HSL follows from it",
        gravity="note",
        demonstrate=_gap_of_one_sample,
        concerns=("devos2023.beta-local", "sharma2025.beta"),
    ),
    Erratum(
        id="sharma2025.S7",
        place="Theorem 4.4 against Section 5, experimental setup",
        printed="one rate, for one local step in a round; experiments take three and five",
        proved="with more local steps the drift between averages adds terms that the theorem does not have",
        because="Algorithm 1 of the analysis takes one step per round",
        effect="a floor where local losses differ in curvature; the number of local steps must not be chosen by it",
        gravity="note",
        demonstrate=_local_steps,
        concerns=("sharma2025.thm4-4", "sharma2025.thm4-4-order"),
    ),
    Erratum(
        id="sharma2025.S8",
        place="public code, github.com/sharm438/hsl at 6aba115, main.py",
        printed="the runs of EL-Local and of HSL follow the two protocols",
        proved="at that revision every node restarts each round from one vector: the mean of all spokes for HSL, node "
        "0's model for EL; and gossip pulls with fixed in-degree",
        because="read in the repository; that this code made the figures is not known",
        effect="restarting from node 0 draws EL to that node's data; accuracies so obtained do not calibrate a "
        "comparison of the protocols",
        gravity="note",
        demonstrate=_restarted,
        concerns=("devos2023.el-local", "sharma2025.thm4-4"),
    ),
)
