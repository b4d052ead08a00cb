"""Models of the papers: shapes of what they give, and parameters counted layer by layer by hand."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from validation.engine import ValidationError  # noqa: E402
from validation.models import MODELS, model  # noqa: E402

# Weights of a k x k convolution from a to b channels are k k a b, those of a dense layer a b; b biases where there are
# any. Sums as they stand in the docstrings of the models.
RESNET18 = (
    9 * 3 * 64  # stem
    + 4 * 9 * 64 * 64  # stage 1: two blocks of two convolutions
    + 9 * 64 * 128 + 3 * 9 * 128 * 128 + 64 * 128  # stage 2, with a 1x1 shortcut
    + 9 * 128 * 256 + 3 * 9 * 256 * 256 + 128 * 256
    + 9 * 256 * 512 + 3 * 9 * 512 * 512 + 256 * 512
    + 512 * 10 + 10
)  # fmt: skip
RESNET10 = (
    9 * 1 * 64
    + 2 * 9 * 64 * 64
    + 9 * 64 * 128 + 9 * 128 * 128 + 64 * 128
    + 9 * 128 * 256 + 9 * 256 * 256 + 128 * 256
    + 9 * 256 * 512 + 9 * 512 * 512 + 256 * 512
    + 512 * 10 + 10
)  # fmt: skip
VGG9 = (
    (9 * 3 * 32 + 32) + (9 * 32 * 64 + 64)
    + (9 * 64 * 128 + 128) + (9 * 128 * 128 + 128)
    + (9 * 128 * 256 + 256) + (9 * 256 * 256 + 256)
    + (256 * 4 * 4 * 512 + 512) + (512 * 512 + 512) + (512 * 10 + 10)  # 32 / 2 / 2 / 2 = 4
)  # fmt: skip
VGG11 = (
    (9 * 3 * 64 + 64) + (9 * 64 * 128 + 128) + (9 * 128 * 256 + 256) + (9 * 256 * 256 + 256)
    + 2 * (64 + 128 + 256 + 256)  # factor and shift of every channel
    + (4096 * 1024 + 1024) + (1024 * 10 + 10)
)  # fmt: skip
CNN_MNIST = (25 * 1 * 10 + 10) + (25 * 10 * 20 + 20) + (20 * 4 * 4 * 50 + 50) + (50 * 10 + 10)  # 28-24-12-8-4
CNN_CIFAR = (9 * 3 * 32 + 32) + (9 * 32 * 64 + 64) + (64 * 16 * 16 * 256 + 256) + (256 * 10 + 10)
CNN_TWO = (25 * 1 * 32 + 32) + (25 * 32 * 64 + 64) + (64 * 7 * 7 * 512 + 512) + (512 * 10 + 10)

TABLE = {
    "resnet18": ((3, 32, 32), 10, RESNET18, 11_164_362),
    "resnet10": ((1, 28, 28), 10, RESNET10, 4_896_330),
    "vgg9": ((3, 32, 32), 10, VGG9, 3_491_530),
    "vgg11-style": ((3, 32, 32), 10, VGG11, 5_167_882),
    "cnn-mnist": ((1, 28, 28), 10, CNN_MNIST, 21_840),
    "cnn-cifar": ((3, 32, 32), 10, CNN_CIFAR, 4_216_522),
    "cnn-two": ((1, 28, 28), 10, CNN_TWO, 1_663_370),
    "logistic": ((1, 28, 28), 10, 784 * 10 + 10, 7_850),
    "mlp": ((2048,), 2, (2048 * 128 + 128) + (128 * 2 + 2), 262_530),
}


def test_every_model_is_counted() -> None:
    assert set(TABLE) == set(MODELS)


@pytest.mark.parametrize("name", TABLE)
def test_parameters_and_output(name: str) -> None:
    shape, labels, counted, stated = TABLE[name]
    made = model(name, shape, labels)
    assert sum(part.numel() for part in made.parameters()) == counted == stated
    assert f"{stated:,}" in str(MODELS[name].__doc__)
    assert made(torch.zeros(2, *shape)).shape == (2, labels)
    assert not list(made.buffers())  # nothing but parameters: no running means


def test_a_residual_block_is_the_sum_of_its_branch_and_its_shortcut() -> None:
    made = model("resnet18", (3, 32, 32), 10, width=4).double()
    block = made[2]
    x = torch.randn(2, 4, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    inner = torch.relu(torch.nn.functional.conv2d(x, block.first.weight, padding=1))
    wanted = torch.relu(torch.nn.functional.conv2d(inner, block.second.weight, padding=1) + x)
    assert torch.allclose(block(x), wanted)
    down = made[4]
    assert down(x).shape == (2, 8, 4, 4)
    for part in (down.first, down.second):
        torch.nn.init.zeros_(part.weight)
    assert torch.allclose(
        down(x), torch.relu(torch.einsum("bchw,dc->bdhw", x[:, :, ::2, ::2], down.shortcut.weight[:, :, 0, 0]))
    )


def test_group_normalization_stays_and_batch_normalization_is_nowhere() -> None:
    kinds = {name: {type(part).__name__ for part in model(name, *TABLE[name][:2]).modules()} for name in TABLE}
    assert not any("BatchNorm" in kind for some in kinds.values() for kind in some)
    assert [name for name, some in kinds.items() if "GroupNorm" in some] == ["vgg11-style"]


def test_seeds_decide_the_first_weights_and_nothing_outside() -> None:
    before = torch.get_rng_state()
    one, again, other = (model("cnn-mnist", (1, 28, 28), 10, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), again.parameters(), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize(
    ("name", "shape", "why"),
    [
        ("resnet20", (3, 32, 32), "no model is called 'resnet20'; known are resnet18"),
        ("resnet18", (2048,), "no images"),
        ("vgg9", (3, 28, 28), "28 x 28.*halved 3 times"),
        ("cnn-two", (1, 30, 28), "30 x 28.*halved 2 times"),
        ("cnn-mnist", (1, 8, 8), "at least 16 a side"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, shape: tuple[int, ...], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        model(name, shape, 10)


def test_an_empty_hidden_layer_is_refused() -> None:
    with pytest.raises(ValidationError, match="hidden = 0"):
        model("mlp", (10,), 2, hidden=0)
