"""When a statement applies, typed a second time as plain arithmetic; no code shared with the catalogue.

Steps of the unified analysis are compared through the constants that they keep positive: ``c1 = 1/(1 - B u)`` with
``u = (L eta_eff)^2`` and B of the appendices, ``c2`` of docs/theory/partial-drift.md.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

Numbers = Mapping[str, float]
RECURSION = {"star-star": 10, "star-ring": 15, "ring-star": 15, "ring-ring": 20}  # D.2-D.5
RECURSION_SAMPLED = {"star-star": 20, "star-ring": 45, "ring-star": 45, "ring-ring": 80}  # F.2-F.5


def chain(topology: str, n: Numbers, sampled: bool) -> float:
    """Local steps that a round chains together: eta_eff / eta."""
    top, low = topology.split("-")
    groups, clients = (n["S1"], n["S2"]) if sampled else (n["G"], n["M"])
    return (groups if top == "ring" else 1) * n["P"] * (clients if low == "ring" else 1) * n["K"]


def applies(bound_id: str, n: Numbers) -> bool:
    """Whether every condition of the statement holds."""
    paper, _, label = bound_id.partition(".")
    label, _, topology = label.partition(".")
    if paper == "zhou2025":  # Theorem 1: eta_eff <= 1/(12 L)
        if label == "lemma1":
            return 2 * n["L"] * n["eta_eff"] <= 1
        if label == "lemma2":
            return 12 * n["L"] * n["eta"] * chain(topology, n, sampled=False) <= 1
        return label == "cor1" or 12 * n["L"] * n["eta_eff"] <= 1
    if label.startswith(("lemma1", "lemma2")) and paper == "zhou2026":  # D.1: 1/(2L); F.1: 1/(5L)
        return (2 if label == "lemma1" else 5) * n["L"] * n["eta_eff"] <= 1
    if paper == "liu2026" and label in ("lemma1", "cor1", "cor2"):
        return 4 * n["L"] * n["eta"] <= 1
    if label == "minibatch-sgd":
        return n["L"] * n["eta_eff"] < 2
    if label.startswith("tilt"):  # a raw step of 1/L at most
        return n["eta_eff"] * n["L"] <= chain(topology, n, label == "tilt-partial")
    if label == "identical":
        return n["eta_eff"] * n["L"] <= chain(topology, n, False)
    if label == "second-order":  # raw steps up to 1/(2L), effective ones up to 1/(sqrt(6) delta_H)
        return 2 * n["eta_eff"] * n["L"] <= chain(topology, n, False) and 6 * (n["eta_eff"] * n["delta_H"]) ** 2 <= 1
    if label.startswith("exact"):  # v < 1, v (sqrt(phi) + chi) < 1, a > 0
        T, v = chain(topology, n, label == "exact-partial"), n["L"] * n["eta_eff"]
        phi = (T - 1) * (2 * T - 1) / (6 * T * T)
        chi = 1 / (2 * T * math.sin(math.pi / (2 * (2 * T - 1)))) if T > 1 else 0.0
        if not (v < 1 and v * (math.sqrt(phi) + chi) < 1 and n["lam"] <= 1):
            return False
        kappa = (1 - v) / n["lam"] + v
        return 2 - v - (1 - v) * n["lam"] - kappa * (v / (1 - chi * v)) ** 2 * phi > 0
    if paper == "zhou2026" and label.startswith("recursion"):  # those of the lemma and of the drift
        sampled = label.endswith("partial")
        moved = n["L"] * n["eta"] * chain(topology, n, sampled)
        return (RECURSION_SAMPLED if sampled else RECURSION)[topology] * moved**2 < 1 and moved <= (
            0.2 if sampled else 0.5
        )
    if label.startswith("drift"):
        sampled = label == "drift-partial"
        length = chain(topology, n, sampled)
        if paper == "hflbounds":  # the share of E_r in its own bound, 5 L^2 eta^2 T(T-1)/2, is below 1
            return 2.5 * n["L"] ** 2 * n["eta"] ** 2 * length * (length - 1) < 1
        return (RECURSION_SAMPLED if sampled else RECURSION)[topology] * (n["L"] * n["eta"] * length) ** 2 < 1
    if label in ("lower", "lower-random"):  # L eta_eff <= 1, and the floor at most 2 L A
        v, (top, low) = n["L"] * n["eta_eff"], topology.split("-")
        T = chain(topology, n, False)
        floor = v * n["sigma"] ** 2 / (2 * n["G"] * n["P"] * n["M"] * n["K"])
        for kind, count, steps, gap in (
            (low, "M", n["K"], "zeta"),
            (top, "G", T / (n["G"] if top == "ring" else 1), "delta"),
        ):
            if kind == "star":
                floor += (1 - 1 / steps) ** 2 * (1 - 1 / n[count]) * (v * steps / T * n[gap]) ** 2 / 5
            elif label == "lower":
                floor += (1 - 1 / n[count] ** 2) * (v * n[count] * steps / T * n[gap]) ** 2 / 13
        return v <= 1 and floor <= 2 * n["L"] * n["A"]
    if label == "hsgd-own-form":
        return 24 * (n["L"] * n["eta"] * n["P"] * n["K"]) ** 2 <= 1
    if label == "fedbuff":
        return n["eta_g"] * n["eta"] * n["K"] * n["L"] <= 1
    if label == "sharp-shuffle-finite":
        return 25 * (n["L"] * n["eta_eff"]) ** 2 < 6
    if label == "sharp-partial":
        v = n["L"] * n["eta_eff"]
        return 2.5 * v * v < 1 and 0.5 - 2.5 * v - 5 / 3 * v * v / (1 - 2.5 * v * v) > 0
    if label in ("z", "z-printed", "thm1", "thm1-printed") and paper == "liu2026":  # Theorem 1, App. D
        return n["beta_lr"] > 1 / n["mu"] and n["alpha"] >= max(n["E"], 4 * n["L"] * n["beta_lr"])
    if label in ("hhfl-any-coverage", "hhfl-spectral", "hhfl-two-level"):  # eta_0 <= 1/(4L)
        return n["beta_lr"] > 1 / n["mu"] and n["beta_lr"] / n["alpha"] <= 1 / (4 * n["L"])
    if label == "hga-repaired":
        a = n["eta_g"] * n["eta_sub"] * n["R_sub"]
        delays = 2 * n["Gamma_max"] ** 2 + n["zeta_max"] ** 2
        small = n["L"] * a * (1 + n["zeta_max"]) + 12 * delays * (n["L"] * a) ** 2 <= 0.5
        share = 2 * n["M"] / n["K_buf"] + n["zeta_max"] + 1
        return small and 1 - 360 * (n["R_sub"] * n["L"] * n["eta_sub"]) ** 2 * share > 0
    if paper == "devos2023" or label == "push-exact":
        return n["s"] < n["n_s"]
    if label == "gossip":
        return n["beta_mix"] < 1
    if label == "gossip-order":
        return n["beta_mix"] <= 0.9
    if label.startswith("lemma-a4"):  # 20 C(beta) gamma^2 L^2 <= 1
        b = n["beta_mix"]
        return b < 1 and 20 * b * (1 + 3 * b) / (1 - b) ** 2 * (n["eta"] * n["L"]) ** 2 <= 1
    if label == "lemma-a5":
        return 2 * n["L"] * n["eta"] <= 1
    if bound_id == "sharma2025.lemma-a3.hub-gossip":
        return n["b_hh"] < n["n_h"]
    if label in ("beta-hh", "beta", "kappa", "hsl-exact") or label.startswith("thm4-4"):
        good = n["b_hh"] < n["n_h"]
        if label.startswith("thm4-4"):  # hubs that are several must speak to each other, or nothing mixes
            good = good and (n["n_h"] == 1 or n["b_hh"] >= 1)
        return good and (label != "thm4-4-step" or 20 * n["L"] * n["eta"] <= 1)
    if paper == "xie2024" and label.startswith(("eq38", "eq39", "eq40", "eq41")):
        return 8 * n["R_sub"] * n["L"] * n["eta_sub"] <= 1
    if (paper, label) == ("xie2024", "prop1"):  # before (30)
        return n["alpha_dyn"] >= 1
    if (paper, label) == ("xie2024", "thm1"):
        least = 10 * math.sqrt(6 * (2 + 2 * n["L"] ** 2)) * n["L"] * n["R_sub"]  # (67)
        s = 4 * n["Gamma_max"] ** 2 + n["zeta_max"] ** 2
        most = 5 * math.sqrt(6) * (math.sqrt(16 * s + 1) - 1) / (4 * s) if s else 10 * math.sqrt(6)  # (68)
        return n["alpha_dyn"] >= max(least, 1) and n["eta_g"] <= most
    return True


CONTINUOUS = ("L", "A", "eta", "eta_eff", "eta_sub", "eta_g", "alpha", "beta_lr", "alpha_dyn", "mu", "lam")
LIMITS = {"mu": "L"}


def shaken(point: Numbers, rng: random.Random) -> dict[str, float]:
    """A point near a given one at which conditions may or may not hold."""
    found = {name: float(value) for name, value in point.items()}
    for name in CONTINUOUS:
        if name in found:
            found[name] *= 10 ** rng.uniform(-1.2, 1.2)
    for name, limit in LIMITS.items():
        if name in found:
            found[name] = min(found[name], found[limit])
    if "E" in found and "alpha" in found and rng.random() < 0.5:
        found["E"] = float(math.ceil(found["alpha"] * rng.uniform(0.5, 2)))
    if "s" in found:
        found["s"] = float(max(1, round(found["n_s"] + rng.choice([-3, -1, 0, 2]))))
    if "b_hh" in found:
        found["n_h"] = float(rng.choice([1, 2, 5, found["n_h"]]))
        found["b_hh"] = float(max(0, round(found["n_h"] + rng.choice([-2, -1, 0, 1]))) if rng.random() < 0.7 else 0)
        if "b_sh" in found:
            found["b_sh"] = min(found["b_sh"], found["n_h"])
    if "beta_mix" in found:
        found["beta_mix"] = rng.choice([rng.random(), 1.0, 0.9, 0.91])
    return found


STEPS = ("eta_eff", "eta", "eta_s", "eta_g", "eta_sub", "beta_lr")


def at_the_edge(bound_id: str, row: dict[str, float], rng: random.Random) -> dict[str, float]:
    """The same point with a step just within or just beyond what the conditions allow, where they have such an edge."""
    name = next((one for one in STEPS if one in row), None)
    if name is None:
        return row
    low, high = 1e-9 * row[name], 1e9 * row[name]
    if not applies(bound_id, {**row, name: low}) or applies(bound_id, {**row, name: high}):
        return row
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if applies(bound_id, {**row, name: middle}) else (low, middle)
    return {**row, name: low * rng.choice((0.9, 0.999, 1.001, 1.1))}
