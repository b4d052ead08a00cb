"""The models of the papers' experiments, as modules of PyTorch.

Papers seldom state every size. Each docstring says what is stated, and where; all else is the common choice, which is
named. Every layer is a module, and none has a state besides its parameters: batch normalization, which the experiments
of zhou2026 leave out (Appendix B.1), is nowhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from validation.engine import ValidationError


class Residual(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Two 3x3 convolutions beside a shortcut, which is 1x1 where the shape changes; no normalization, no biases."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(inputs, outputs, stride)
        self.between = nn.ReLU()
        self.second = _convolution(outputs, outputs, 1)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        self.after = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """The block's output."""
        y: Tensor = self.after(self.second(self.between(self.first(x))) + self.shortcut(x))
        return y


class Mean(nn.Module):  # type: ignore[misc]
    """The mean of every channel: global average pooling."""

    def forward(self, x: Tensor) -> Tensor:
        """Of shape (samples, channels)."""
        return x.mean((2, 3))


def _convolution(inputs: int, outputs: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)


def resnet(blocks: Sequence[int], image: Sequence[int], labels: int, width: int = 64) -> nn.Module:
    """A residual network for small images: a 3x3 stem, four stages of 1, 2, 4, 8 times the width, a mean, a layer.

    Args:
        blocks: residual blocks of each stage; every stage but the first halves the sides.
        image: channels, height, width.
        labels: how many.
        width: channels of the first stage.

    Raises:
        ValidationError: if the input is no image.
    """
    _image(image)
    layers: list[nn.Module] = [_convolution(image[0], width, 1), nn.ReLU()]
    channels = width
    for stage, count in enumerate(blocks):
        for block in range(count):
            layers.append(Residual(channels, width << stage, 2 if stage and not block else 1))
            channels = width << stage
    return nn.Sequential(*layers, Mean(), nn.Linear(channels, labels))


def resnet18(image: Sequence[int], labels: int = 10, *, width: int = 64) -> nn.Module:
    """ResNet-18 without batch normalization, for CIFAR-10 and CINIC-10: 11,164,362 parameters.

    Stated: the name and the removal of batch normalization (zhou2026, 3.1 and B.1; zhou2025, 3.1; xie2024, G, names
    ResNet-18 too). Common choice: the CIFAR form, a 3x3 stem of stride 1 without pooling and stages of 64, 128, 256 and
    512 channels; convolutions have no biases, as before the normalization was removed.
    """
    return resnet((2, 2, 2, 2), image, labels, width)


def resnet10(image: Sequence[int], labels: int = 10, *, width: int = 64) -> nn.Module:
    """ResNet-10 without batch normalization, for Fashion-MNIST: 4,896,330 parameters.

    Stated: the name and the removal of batch normalization (zhou2026, 3.1 and B.1; zhou2025, 3.1). Common choice: one
    block in each stage, and otherwise as `resnet18`, from one channel.
    """
    return resnet((1, 1, 1, 1), image, labels, width)


def vgg9(image: Sequence[int], labels: int = 10) -> nn.Module:
    """VGG-9 without batch normalization, for CIFAR-10: 3,491,530 parameters.

    Stated: the name and the removal of batch normalization (zhou2026, 3.1 and B.1; zhou2025, 3.1). Common choice in
    federated learning: convolutions of 32, 64, 128, 128, 256 and 256 channels, pooling after every second one, and
    dense layers of 512, 512 and the labels, all with biases.
    """
    _image(image, halved=3)
    layers: list[nn.Module] = []
    channels = image[0]
    for pair in ((32, 64), (128, 128), (256, 256)):
        for outputs in pair:
            layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.ReLU()]
            channels = outputs
        layers.append(nn.MaxPool2d(2))
    inputs = channels * (image[1] // 8) * (image[2] // 8)
    return nn.Sequential(*layers, nn.Flatten(), *_dense(inputs, 512, 512, labels))


def vgg11_style(image: Sequence[int], labels: int = 10) -> nn.Module:
    """The CIFAR-10 model of liu2026, V-C: 5,167,882 parameters.

    Stated: a style of VGG-11 with three blocks of 64, 128 and 256 channels and max-pooling between, group
    normalization, dropout, and dense layers from 4096 to 1024 to 10. Common choice: the convolutions of VGG-11's first
    three blocks (one, one, two), 32 groups, pooling after every block, which gives 4096. Dropout is left out: its rate
    is not stated, and steps would no longer depend on the batch alone.
    """
    _image(image, halved=3)
    layers: list[nn.Module] = []
    channels = image[0]
    for block in ((64,), (128,), (256, 256)):
        for outputs in block:
            layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.GroupNorm(32, outputs), nn.ReLU()]
            channels = outputs
        layers.append(nn.MaxPool2d(2))
    inputs = channels * (image[1] // 8) * (image[2] // 8)
    return nn.Sequential(*layers, nn.Flatten(), *_dense(inputs, 1024, labels))


def cnn_mnist(image: Sequence[int], labels: int = 10) -> nn.Module:
    """The CNN of liu2026, V-A, for MNIST: 21,840 parameters.

    Stated: a convolutional network, lightweight. Common choice, that of Hier-FAVG whose setting the paper follows:
    5x5 convolutions of 10 and 20 channels without padding, each with max-pooling, and dense layers of 50 and the
    labels.
    """
    _image(image, least=16)
    sides = [((side - 4) // 2 - 4) // 2 for side in image[1:]]
    return nn.Sequential(
        nn.Conv2d(image[0], 10, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(10, 20, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        *_dense(20 * math.prod(sides), 50, labels),
    )


def cnn_cifar(image: Sequence[int], labels: int = 10) -> nn.Module:
    """The CNN of sharma2025 for CIFAR-10: 4,216,522 parameters.

    Stated: two convolutional layers, a pooling layer, two dense layers, 4.2 million parameters. Chosen so that the
    count comes out: padded 3x3 convolutions of 32 and 64 channels, one max-pooling, dense layers of 256 and the labels.
    """
    _image(image, halved=1)
    return nn.Sequential(
        nn.Conv2d(image[0], 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        *_dense(64 * (image[1] // 2) * (image[2] // 2), 256, labels),
    )


def cnn_two(image: Sequence[int], labels: int = 10) -> nn.Module:
    """The two-convolution network of xie2024, G, for EMNIST and Fashion-MNIST: 1,663,370 parameters for ten labels.

    Stated: two convolutional layers. Common choice, that of the first work on federated averaging: padded 5x5
    convolutions of 32 and 64 channels, each with max-pooling, and dense layers of 512 and the labels.
    """
    _image(image, halved=2)
    return nn.Sequential(
        nn.Conv2d(image[0], 32, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        *_dense(64 * (image[1] // 4) * (image[2] // 4), 512, labels),
    )


def logistic(image: Sequence[int], labels: int = 10) -> nn.Module:
    """Logistic regression, stated in liu2026, V-A, for MNIST: 7,850 parameters."""
    return nn.Sequential(nn.Flatten(), *_dense(math.prod(image), labels))


def mlp(image: Sequence[int], labels: int = 2, *, hidden: int = 128) -> nn.Module:
    """The multilayer perceptron of zhou2026, 3.1, for SST-2: 262,530 parameters on 2,048 counted words.

    Stated: that it is one, and nothing of its input. Common choice: a bag of words and one hidden layer.

    Raises:
        ValidationError: if the hidden layer is empty.
    """
    if hidden < 1:
        raise ValidationError(f"hidden = {hidden}: a layer needs at least 1 unit.")
    return nn.Sequential(nn.Flatten(), *_dense(math.prod(image), hidden, labels))


def _dense(*widths: int) -> list[nn.Module]:
    """Dense layers with ReLU between them."""
    layers: list[nn.Module] = []
    for into, out in itertools.pairwise(widths):
        layers += [nn.Linear(into, out), nn.ReLU()]
    return layers[:-1]


def _image(image: Sequence[int], halved: int = 0, least: int = 1) -> None:
    """Refuse what no convolution takes.

    Raises:
        ValidationError: if the input is no image, or its sides cannot be halved so often.
    """
    if len(image) != 3:
        raise ValidationError(f"samples of {len(image)} dimension are no images: use the mlp or logistic model.")
    if any(side % 2**halved or side < least for side in image[1:]):
        need = f"at least {least} a side" if least > 1 else f"sides that can be halved {halved} times"
        raise ValidationError(f"images of {image[1]} x {image[2]} do not fit the model: it needs {need}.")


MODELS: Mapping[str, Callable[..., nn.Module]] = {
    "resnet18": resnet18,
    "resnet10": resnet10,
    "vgg9": vgg9,
    "vgg11-style": vgg11_style,
    "cnn-mnist": cnn_mnist,
    "cnn-cifar": cnn_cifar,
    "cnn-two": cnn_two,
    "logistic": logistic,
    "mlp": mlp,
}


def model(name: str, image: Sequence[int], labels: int, *, seed: int = 0, **options: object) -> nn.Module:
    """A model of `MODELS` with PyTorch's initial weights for this seed; the random state outside stays as it is.

    Raises:
        ValidationError: if no model has this name.
    """
    if name not in MODELS:
        raise ValidationError(f"no model is called {name!r}; known are {', '.join(MODELS)}.")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return MODELS[name](tuple(image), labels, **options)
