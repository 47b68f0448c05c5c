"""Names of a package that import their module when they are first used."""

from collections.abc import Callable, Mapping
from importlib import import_module


def late_exports(package_globals: dict[str, object], modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package (PEP 562) that imports a name from its module when it is first used.

    Args:
        package_globals: globals() of the package, which keep what was imported.
        modules: the module of each name. No name is that of its module: Python would put the module in its place.
    """
    if named := [name for name, module in modules.items() if module.rpartition(".")[2] == name]:
        raise ValueError(f"rename the modules of {named}: importing one hides the name in its package")

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package_globals['__name__']!r} has no attribute {name!r}")
        found = getattr(import_module(modules[name]), name)
        package_globals[name] = found
        return found

    return get
