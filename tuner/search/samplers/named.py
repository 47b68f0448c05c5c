"""Samplers of Optuna and of users, by name."""

import inspect
import warnings
from importlib import import_module
from typing import Any, cast

import optuna.samplers
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, CmaEsSampler, NSGAIIISampler, NSGAIISampler

from tuner.errors import UnknownSearch
from tuner.search.method import Method


class SamplerClass:
    """A class of samplers, constructed from a seed if it takes one. `is_foreign` ones are not from Optuna.

    Evolutionary samplers compute with numbers: `needs_ranks`.
    """

    def __init__(self, name: str, made: type[BaseSampler]) -> None:
        self._name, self._class = name, made
        self.is_foreign = not made.__module__.startswith("optuna.")
        self.needs_ranks = issubclass(made, (CmaEsSampler, NSGAIISampler, NSGAIIISampler))

    def __call__(self, seed: int) -> BaseSampler:
        """Construct the sampler.

        Raises:
            UnknownSearch: it needs further arguments, or a package that is not installed.
        """
        seeded = "seed" in inspect.signature(self._class).parameters
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExperimentalWarning)
                return cast("Any", self._class)(**({"seed": seed} if seeded else {}))
        except Exception as error:
            raise UnknownSearch(
                self._name,
                f"it cannot be made from a seed alone: {error}. Install what is missing, or write a subclass whose "
                "constructor takes `seed` only, and name it as package.module:Class",
            ) from error


def sampler_class(name: str) -> SamplerClass:
    """Return the class of `optuna.samplers`, or the one that `package.module:Class` names.

    Raises:
        UnknownSearch: there is no such class, or it is not a sampler.
    """
    module, colon, attribute = name.partition(":")
    try:
        made = getattr(import_module(module), attribute) if colon else getattr(optuna.samplers, name, None)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}; its module must be installed or in a folder of PYTHONPATH"
        raise UnknownSearch(name, reason) from error
    if not (inspect.isclass(made) and issubclass(made, BaseSampler)) or inspect.isabstract(made):
        raise UnknownSearch(name, f"expected {', '.join(Method)}, a class of optuna.samplers, or package.module:Class")
    return SamplerClass(name, made)
