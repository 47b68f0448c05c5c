"""Methods of dataclasses that are compiled when they are first called."""

import dataclasses
import inspect
import sys
from types import ModuleType

import pytest

from hal.late_methods import compile_methods_when_called


@pytest.fixture(params=[True, False], ids=["late", "usual"])
def late(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Let this module's dataclasses be compiled late, or as usual."""
    if request.param:
        if not hasattr(dataclasses, "_create_fn"):
            pytest.skip("this Python compiles the methods of a class at once")
        monkeypatch.setattr(dataclasses, "_create_fn", vars(dataclasses)["_create_fn"])
        compile_methods_when_called({__name__.partition(".")[0]})
    return request.param


def test_values_behave_as_usual(late: bool) -> None:
    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Tile:
        """A tile."""

        m: int
        n: int = 16
        names: tuple[str, ...] = dataclasses.field(default_factory=tuple, compare=False)

    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Block(Tile):
        """A tile with a depth."""

        k: int = 32

        def __post_init__(self) -> None:
            if self.k < 1:
                raise ValueError("k")

    assert (vars(Tile)["__init__"].__code__.co_name == "method") is late
    tile = Tile(8)
    assert vars(Tile)["__init__"].__code__.co_name == "__init__"
    assert (tile, hash(tile)) == (Tile(m=8, n=16, names=("a",)), hash(Tile(8)))
    assert tile < Tile(9)
    assert tile not in (Tile(9), Block(8), 8)
    assert repr(Block(8)).endswith("Block(m=8, n=16, names=(), k=32)")
    assert dataclasses.replace(Block(8), k=64) == Block(8, k=64)
    with pytest.raises(ValueError, match="k"):
        Block(8, k=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        tile.m = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Block(8).k  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match=r"Tile\.__init__\(\) missing 1 required positional argument: 'm'"):
        Tile()  # pyright: ignore[reportCallIssue]
    assert list(inspect.signature(Tile).parameters) == ["m", "n", "names"]


def test_a_first_call_through_a_subclass_replaces_the_method_of_the_base(late: bool) -> None:
    @dataclasses.dataclass
    class Base:
        """A value."""

        size: int

    class Derived(Base):
        pass

    first = vars(Base)["__init__"]
    assert Derived(3).size == 3
    assert "__init__" not in vars(Derived)
    assert (vars(Base)["__init__"] is first) is not late


@pytest.mark.usefixtures("late")
def test_dataclasses_of_other_packages_are_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModuleType("other.module")
    monkeypatch.setitem(sys.modules, other.__name__, other)
    exec("import dataclasses\n@dataclasses.dataclass\nclass Other:\n    size: int", vars(other))
    assert vars(other.Other)["__init__"].__code__.co_name == "__init__"
