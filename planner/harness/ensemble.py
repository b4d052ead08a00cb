"""Simulations of many small problems at once; numpy is enough."""

from validation.ensemble import FAMILIES, Ensemble, ensemble, rounds_to, squared_gradients_of

__all__ = ["FAMILIES", "Ensemble", "ensemble", "rounds_to", "squared_gradients_of"]
