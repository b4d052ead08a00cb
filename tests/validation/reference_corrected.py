"""SCAFFOLD and MTGC, literally: one client, one step after the other.

Sources: Karimireddy et al., 2020, Algorithm 1, with its line numbers; Fang et al., 2024, whose Algorithm 1 was not
read: as the code that its authors publish has it, with the other ways to begin z that are named here.

Nothing here knows what a point is. Points may be floats, tensors, or `fractions.Fraction`, in which it can be seen
whether a point with its variates is a fixed point exactly. Speed is no aim: this is what
`validation.algorithms.gradient_corrected` is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def mean(points: Sequence[Any]) -> Any:
    """The sum over the number."""
    return sum(points[1:], start=points[0]) / len(points)


class Scaffold:
    """A server and its clients.

    Attributes:
        x: the server's model.
        c: its variate.
        own: the clients' variates.
    """

    def __init__(self, x: Any, clients: int, *, K: int, eta: Any, eta_g: Any = 1, option: str = "II") -> None:
        """Start with variates of zero.

        Args:
            x: the first model.
            clients: N.
            K: local steps.
            eta: the local rate.
            eta_g: the server's rate.
            option: of line 12, I or II.
        """
        self.x, self.c, self.own = x, x - x, [x - x for _ in range(clients)]  # 1-2
        self.K, self.eta, self.eta_g, self.option = K, eta, eta_g, option

    def round(self, sampled: Sequence[int], gradient: Callable[[int, int | None, Any], Any]) -> Any:
        """Lines 4-17, for the clients that are sampled.

        Args:
            sampled: the clients of line 4.
            gradient: ``gradient(i, k, x)`` is the stochastic gradient of client i in local step k, or, with None for k,
                that of line 12.
        """
        dy, dc = [], []
        for i in sampled:  # 6
            y = self.x  # 7
            for k in range(self.K):  # 8
                y = y - self.eta * (gradient(i, k, y) - self.own[i] + self.c)  # 9-10
            if self.option == "I":  # 12
                new = gradient(i, None, self.x)
            else:
                new = self.own[i] - self.c + (self.x - y) / (self.K * self.eta)
            dy.append(y - self.x)  # 13
            dc.append(new - self.own[i])
            self.own[i] = new  # 14
        self.x = self.x + self.eta_g * mean(dy)  # 16-17
        self.c = self.c + mean(dc) * len(sampled) / len(self.own)
        return self.x


class Mtgc:
    """A server, its groups and their clients.

    Attributes:
        x: the server's model.
        y: the corrections of groups.
        z: the corrections of clients, group by group.
    """

    def __init__(self, x: Any, G: int, M: int, *, P: int, K: int, eta: Any, begin: str = "zero") -> None:
        """Start with corrections of zero.

        Args:
            x: the first model.
            G: groups.
            M: clients of each.
            P: group rounds.
            K: local steps.
            eta: the rate.
            begin: ``zero``, ``gradients`` or ``kept``: what z is when a group receives a model.
        """
        self.x = x
        self.y = [x - x for _ in range(G)]
        self.z = [[x - x for _ in range(M)] for _ in range(G)]
        self.P, self.K, self.eta, self.begin = P, K, eta, begin
        self.begun = False

    def round(self, gradient: Callable[[int, int | None, int, int | None, Any], Any]) -> Any:
        """One global round.

        Args:
            gradient: ``gradient(g, p, m, k, x)`` is the stochastic gradient of client m of group g in local step k of
                group round p; with None for k at the model that its group received, with None for p too at the model
                that training began with.
        """
        groups, clients = range(len(self.y)), range(len(self.z[0]))
        if self.begin == "gradients" and not self.begun:
            slopes = [mean([gradient(g, None, m, None, self.x) for m in clients]) for g in groups]
            self.y = [mean(slopes) - slopes[g] for g in groups]
        self.begun = True
        received = []
        for g in groups:
            x = self.x
            if self.begin == "zero":
                self.z[g] = [x - x for _ in clients]
            if self.begin == "gradients":
                slopes = [gradient(g, 0, m, None, x) for m in clients]
                self.z[g] = [mean(slopes) - slopes[m] for m in clients]
            for p in range(self.P):
                ends = []
                for m in clients:
                    end = x
                    for k in range(self.K):
                        end = end - self.eta * (gradient(g, p, m, k, end) + self.z[g][m] + self.y[g])
                    ends.append(end)
                x = mean(ends)
                for m in clients:
                    self.z[g][m] = self.z[g][m] + (ends[m] - x) / (self.K * self.eta)
            received.append(x)
        self.x = mean(received)
        for g in groups:
            self.y[g] = self.y[g] + (received[g] - self.x) / (self.P * self.K * self.eta)
        return self.x
