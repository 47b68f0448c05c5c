"""Names of a package import their module when they are first used."""

import subprocess
import sys

import pytest

from hal.late import late_exports


def test_a_name_is_imported_once_and_kept() -> None:
    package: dict[str, object] = {"__name__": "package"}
    get = late_exports(package, {"sqrt": "math"})
    assert "sqrt" not in package
    import math

    assert get("sqrt") is math.sqrt
    assert package["sqrt"] is math.sqrt


def test_another_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'package' has no attribute 'cbrt'"):
        late_exports({"__name__": "package"}, {"sqrt": "math"})("cbrt")


def test_a_name_that_its_module_would_hide_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rename the modules of \['predict'\]"):
        late_exports({"__name__": "package"}, {"predict": "package.predict", "explain": "package.predict"})


@pytest.mark.parametrize(("package", "unused"), [("hal", "hal.facts"), ("codegen", "xdsl"), ("tuner", "optuna")])
def test_a_package_imports_none_of_its_modules_by_itself(package: str, unused: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {package}; print({unused!r} in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
