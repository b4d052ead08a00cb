"""Errata of the early version that concern every statement at once."""

from hflbounds.catalog.zhou2025 import LETTERS, WHICH_ITERATE

ERRATA = (LETTERS, WHICH_ITERATE)
