"""Entry of a measuring kit, in the syntax of old versions of Python: what is missing is named before all else."""

import sys


def missing():
    """Return what this Python lacks for a kit; None if it has all."""
    if sys.version_info < (3, 11):  # noqa: UP036 - any Python may be given the kit
        return "expected Python 3.11 or newer, this is {}.{}: use a newer one".format(*sys.version_info[:2])
    if not sys.platform.startswith("linux"):
        return "expected Linux, this is {}: kits measure on Linux".format(sys.platform)  # noqa: UP032
    from importlib.util import find_spec

    absent = [name for name in ("numpy", "pyopencl") if find_spec(name) is None]
    if absent:
        names = " and ".join(absent), sys.executable, " ".join(absent)
        if sys.prefix != sys.base_prefix:
            return "expected {}, which this Python does not have: `{} -m pip install {}`".format(*names)
        # Distributions refuse packages outside of an environment.
        return (
            "expected {}, which this Python does not have: `{} -m venv venv`, `venv/bin/pip install {}`, "
            "then run the kit with venv/bin/python"
        ).format(names[0], names[1], "numpy pyopencl")
    return None


def damage():
    """Return what says that the kit was damaged since it was written; None if it was not."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(sys.argv[0]) as archive:
            bad = archive.testzip()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        bad = error
    if bad is None:
        return None
    return "expected the kit as it was written, it is damaged ({}): copy it again".format(bad)  # noqa: UP032


if __name__ == "__main__":
    fault = missing() or damage()
    if fault is not None:
        sys.stderr.write("error: " + fault + "\n")
        sys.exit(2)
    from tuner.kit.command import main

    sys.exit(main())
