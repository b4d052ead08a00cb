"""Label counts on a data set: everybody holds what the table says, scaled, and no sample is held twice."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from sklearn.datasets import load_digits  # noqa: E402

from validation.engine import ValidationError  # noqa: E402
from validation.proxies import laid, scaled  # noqa: E402

COUNTS = np.array([[30, 0, 10], [0, 20, 0], [5, 5, 40], [2000, 0, 1]])


@pytest.mark.parametrize("classes", [None, [7, 0, 3]])
def test_clients_hold_their_share_of_every_label_and_no_sample_twice(classes: list[int] | None) -> None:
    found = laid("digits", COUNTS, classes)
    pixels, truth = load_digits(return_X_y=True)
    known = {row.tobytes(): int(label) for row, label in zip(pixels.astype(np.float32), truth, strict=True)}
    factor = float((found.clients[3][1] == 0).sum()) / 2000  # of the largest count, which rounding moves least
    assert factor == pytest.approx(found.share, rel=0.05)
    seen = []
    for row, (samples, labels) in zip(COUNTS, found.clients, strict=True):
        for label in range(3):
            many = int((labels == label).sum())
            assert abs(many - row[label] * factor) <= 1
            assert many > 0 or row[label] * factor < 0.6
        keys = [(one * 16).numpy().astype(np.float32).tobytes() for one in samples]
        assert [known[key] for key in keys] == [(classes or [0, 1, 2])[label] for label in labels.tolist()]
        seen += keys
    held_back = [(one * 16).numpy().astype(np.float32).tobytes() for one in found.test[0]]
    assert len({*seen, *held_back}) == len(seen) + len(held_back)
    assert set(found.test[1].tolist()) == {0, 1, 2}
    assert found.module(found.test[0]).shape == (len(held_back), 3)


def test_counts_that_fit_stay_as_they_are_and_nobody_is_left_without() -> None:
    assert scaled(COUNTS[:3], [100, 100, 100]).tolist() == COUNTS[:3].tolist()
    out = scaled(np.array([[1, 0], [5000, 0], [0, 1]]), [50, 50])
    assert out[0].tolist() == [1, 0]
    assert out[:, 0].sum() <= 50


def test_what_cannot_be_laid_is_refused() -> None:
    with pytest.raises(ValidationError, match="no data set is called 'cats'"):
        laid("cats", COUNTS)
    with pytest.raises(ValidationError, match="the table has 11 labels, and digits those from 0 to 9"):
        laid("digits", np.ones((2, 11), dtype=np.int64))
    with pytest.raises(ValidationError, match="those from 0 to 9"):
        laid("digits", COUNTS, [0, 1, 12])
    with pytest.raises(ValidationError, match="60 clients are too many"):
        scaled(np.ones((60, 1), dtype=np.int64), [50])


def test_the_same_seed_gives_the_same_deal_and_another_one_another() -> None:
    one, again, other = (laid("digits", COUNTS, seed=seed) for seed in (3, 3, 4))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(one.clients, again.clients, strict=True))
    assert torch.equal(one.module[0].weight, again.module[0].weight)
    assert not torch.equal(one.clients[0][0], other.clients[0][0])
