"""The claims about asynchronous servers: their constants, their predictions, and what they say of runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hflbounds import get  # noqa: E402
from validation.claims import Judgement, claims, drive, hga_setting  # noqa: E402
from validation.claims.hga_setting import (  # noqa: E402
    PAIR,
    REPAIRED,
    THEOREM,
    best,
    clients,
    gaps,
    hga,
    predicted,
    protocol,
    scenario,
    theorem,
    value,
)
from validation.engine import ValidationError, generator  # noqa: E402
from validation.experiment import Cell, make_algorithm, make_problem, part  # noqa: E402
from validation.problems.controlled import controlled  # noqa: E402

FIXED = ("hga-bias", "hga-repaired", "hga-theorem", "hga-vanishing")
TUNED = ("hga-buffer", "hga-rules", "hga-staleness", "hga-sub-centers")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tensors are small here: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def judged(names: Sequence[str], size: Any = "quick") -> Mapping[str, Judgement]:
    known: dict[Cell, Any] = {}

    def execute(cells: Sequence[Cell]) -> dict[Cell, Any]:
        for cell in cells:
            if cell not in known:
                known[cell] = cell.run()
        return {cell: known[cell] for cell in cells}

    return drive([claims()[name] for name in names], size, execute)


def test_every_claim_is_there() -> None:
    assert {name for name in claims() if name.startswith("hga-")} == {*FIXED, *TUNED}


# ------------------------------------------------------------------------------------------------------ constants


@pytest.mark.parametrize("M", [2, 3, 6])
def test_gaps_of_sub_centers_are_exceeded_nowhere_and_come_close(M: int) -> None:
    """Gradients at many points, near and far, against clients taken M at a time from a literal formula."""
    problem = controlled(G=6, M=2, zeta=0.7, delta=1.3, dim=4, seed=3)
    made = generator(5)
    x = torch.randn(600, 4, generator=made, dtype=torch.float64)
    x = torch.cat([x, 10 * x, 100 * x])
    each = [problem.h * x + problem.a[c // 2, c % 2] * torch.tanh(x) + problem.v[c // 2, c % 2] for c in range(12)]
    centers = [sum(each[j * 12 // M : (j + 1) * 12 // M]) * M / 12 for j in range(M)]
    middle = sum(each) / 12
    for center, told in zip(centers, gaps(problem, M), strict=True):
        found = float((center - middle).norm(dim=1).max())
        assert 0.95 * told <= found <= told * (1 + 1e-12)


def test_the_scenario_has_the_constants_of_the_sub_centers_and_the_delays_of_the_runs() -> None:
    algorithm = part("hga-fl", M=2, N=24, K_buf=1, speed_ratio=3.0, R_sub=5)
    found = scenario(clients(1), algorithm, range(3), 100)
    problem = make_problem(clients(1))
    each = gaps(problem, 2)  # type: ignore[arg-type]
    assert found == pytest.approx(
        {"L": 1.0, "A": 5.0, "R_sub": 5, "M": 2, "K_buf": 1, "T": 100, "Gamma_max": 3, "zeta_max": 6}
        | {"sigma_s": 1 / math.sqrt(24), "sigma_g": max(each), "sigma_g_mean": math.hypot(*each) / math.sqrt(2)}
    )
    jittered = part("hga-fl", M=2, N=24, K_buf=1, speed_ratio=3.0, jitter=0.8)
    late = [make_algorithm(jittered).schedule(seed, 100).Gamma_max for seed in range(4)]  # type: ignore[attr-defined]
    assert scenario(clients(1), jittered, range(4), 100)["Gamma_max"] == max(late) > min(late)
    with pytest.raises(ValidationError, match="controlled with two-tier: a controlled problem and an asynchronous"):
        scenario(clients(1), part("two-tier", topology="star-star", G=8, M=6), range(2), 10)


# ---------------------------------------------------------------------------------------------------- predictions

KNOWN: list[dict[str, float]] = [
    {"L": 1, "R_sub": 1, "M": 2, "K_buf": 1, "T": 4000, "Gamma_max": 3, "zeta_max": 6, "sigma_s": 0.1, "A": 0.05},
    {"L": 0.5, "R_sub": 8, "M": 8, "K_buf": 3, "T": 200, "Gamma_max": 12, "zeta_max": 30, "sigma_s": 2, "A": 5},
    {"L": 1, "R_sub": 2, "M": 4, "K_buf": 4, "T": 200, "Gamma_max": 0, "zeta_max": 0, "sigma_s": 1, "A": 5},
]


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", [THEOREM, REPAIRED])
def test_the_best_steps_are_allowed_and_hard_to_beat(name: str, known: dict[str, float]) -> None:
    known = known | {"sigma_g": 1.0, "sigma_g_mean": 0.8}
    lowest, chosen = best(name, known)
    told = {n: v for n, v in known.items() if n != "sigma_g_mean"} | chosen
    told["sigma_g"] = 0.8 if name == REPAIRED else 1.0
    assert get(name).applies(**told)
    assert lowest == value(name, known, chosen) == get(name)(**told)
    made = generator(9)
    others = [
        value(name, known, {n: v * 4 ** float(torch.randn(1, generator=made)) for n, v in chosen.items()})
        for _ in range(300)
    ]
    assert min(others) > 0.9 * lowest


def test_steps_outside_the_conditions_are_worth_nothing() -> None:
    known = KNOWN[0] | {"sigma_g": 1.0, "sigma_g_mean": 1.0}
    assert math.isinf(value(THEOREM, known, {"alpha_dyn": 1.0, "eta_g": 0.1}))
    assert math.isinf(value(REPAIRED, known, {"eta_sub": 1.0, "eta_g": 0.1}))


def test_both_statements_say_larger_buffers_and_smaller_delays_do_no_worse() -> None:
    how = protocol("quick")

    def known(**options: Any) -> dict[str, float]:
        return scenario(clients(1), hga("quick", **options), how.scoring, how.rounds)

    buffers = [known(K_buf=K, speed_ratio=10.0) for K in (1, 2, 4, 8)]
    ratios = [known(K_buf=3, speed_ratio=ratio) for ratio in (1.0, 3.0, 10.0)]
    for better, worse in [*zip(buffers[1:], buffers, strict=False), *pairwise(ratios)]:
        assert best(REPAIRED, better)[0] < best(REPAIRED, worse)[0]
        assert predicted(better, worse) == "not larger"
        assert predicted(worse, better) == "larger"


def test_the_theorem_sees_sub_centers_through_their_share_in_the_buffer_only() -> None:
    known = KNOWN[1] | {"alpha_dyn": 2000, "eta_g": 0.1, "sigma_g": 1.0}
    found = {get(THEOREM)(**(known | {"M": 2 * K, "K_buf": K})) for K in (1, 2, 4, 8)}
    assert max(found) == pytest.approx(min(found), rel=1e-12)


def test_the_setting_of_the_theorem_is_within_its_conditions() -> None:
    for below in ("avg", "dyn"):
        cell, known, chosen = theorem("hga-fl", 3.0, 500, below)
        bound = get(THEOREM)
        told = {n: v for n, v in known.items() if n != "sigma_g_mean"} | chosen
        assert bound.applies(**told)
        algorithm: Any = make_algorithm(cell.algorithm)
        assert (algorithm.below, algorithm.K_buf, algorithm.M, algorithm.R_sub) == (below, 1, 2, 1)
        assert cell.rates == (chosen["eta_g"],) * 4  # what a run's rate multiplies is 1
        assert (algorithm.eta_g, cell.problem) == (1.0, PAIR)
        if below == "avg":
            assert algorithm.eta == pytest.approx(math.sqrt(2 + 2 * known["L"] ** 2) / chosen["alpha_dyn"])
        else:
            assert algorithm.alpha == chosen["alpha_dyn"]


# ------------------------------------------------------------------------------------------------------- verdicts


@pytest.mark.slow
def test_verdicts_in_the_setting_of_the_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    """At half of the quick size: what is printed is exceeded where speeds differ, what is proved is not."""
    for module in ("hga_bias", "hga_theorem", "hga_vanishing"):
        monkeypatch.setattr(f"validation.claims.{module}.horizons", lambda size: (300, 2400))
    found = judged(FIXED)
    assert {name: judgement.verdict for name, judgement in found.items()} == {
        "hga-bias": "holds",
        "hga-repaired": "holds",
        "hga-theorem": "fails",
        "hga-vanishing": "fails",
    }
    for name in ("hga-theorem", "hga-vanishing"):
        for row in found[name].rows:
            if "speeds 1:1" in row.setting:
                assert row.verdict == "holds"
    printed = {row.setting: row.verdict for row in found["hga-theorem"].rows}
    assert printed["gradient steps, speeds 1:3, T = 2400"] == "fails"
    assert found["hga-theorem"].note.startswith("Holds in ")
    assert "fails for measured / xie2024.thm1 at gradient steps, speeds 1:3, T = 2400" in found["hga-theorem"].note
    assert max(row.ratio.high for row in found["hga-repaired"].rows) < 0.1
    (bias,) = (row for row in found["hga-bias"].rows if row.compared == "hga-fl / fedbuff")
    assert 3.5 < bias.ratio.low <= bias.ratio.high < 4.5


def test_plans_of_tuned_claims_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs: every comparison is made, and has a prediction."""
    small = hga_setting.protocol("quick")

    def short(size: str) -> Any:
        told = {name: getattr(small, name) for name in ("quantity", "averaged", "start", "reach")}
        return type(small)(**told, rounds=6, tuning=(100,), scoring=(0, 1), factors=(4.0,))

    for name in ("hga_buffer", "hga_rules", "hga_staleness", "hga_sub_centers"):
        monkeypatch.setattr(f"validation.claims.{name}.protocol", short)
    found = judged(TUNED)
    assert [len(found[name].rows) for name in TUNED] == [6, 8, 4, 6]
    for judgement in found.values():
        assert all(row.predicted == "not larger" and row.ratio.count == 2 for row in judgement.rows)
        assert len({(row.setting, row.compared) for row in judgement.rows}) == len(judgement.rows)


@pytest.mark.slow
def test_verdicts_of_tuned_claims() -> None:
    found = judged(TUNED)
    verdicts = {name: judgement.verdict for name, judgement in found.items()}
    assert (verdicts["hga-buffer"], verdicts["hga-rules"]) == ("holds", "fails")
    for row in found["hga-rules"].rows:
        if "1:10" in row.setting:
            assert row.ratio.low > 1.3
