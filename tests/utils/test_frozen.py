"""`@frozen` makes what `dataclass(frozen=True, slots=True)` makes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import (
    KW_ONLY,
    FrozenInstanceError,
    InitVar,
    asdict,
    astuple,
    dataclass,
    field,
    fields,
    is_dataclass,
    replace,
)
from typing import Any

import pytest

import utils.frozen
from utils.frozen import frozen

Decorator = Callable[[type], type]
MODEL_BY_NAME = dataclass(frozen=True, slots=True, kw_only=True)


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0


@frozen
class Note:
    """A note with every kind of field that our classes have."""

    text: str
    place: Point = Point(1, 2)  # noqa: RUF009 - it cannot change
    _: KW_ONLY
    names: list[str] = field(default_factory=list)
    origin: str = field(default="", compare=False)
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Model:
    """What `Note` has to be like."""

    text: str
    place: Point = Point(1, 2)  # noqa: RUF009 - it cannot change
    _: KW_ONLY
    names: list[str] = field(default_factory=list)
    origin: str = field(default="", compare=False)
    key: str = field(default="", repr=False)


BOTH = pytest.mark.parametrize("kind", [Note, Model])


def test_what_it_says_and_has_is_a_dataclass_like_any() -> None:
    made = Note("hi", names=["a"], key="secret")
    model = Model("hi", names=["a"], key="secret")
    assert repr(made) == repr(model).replace("Model", "Note")
    assert asdict(made) == asdict(model)
    assert astuple(made) == astuple(model)
    assert is_dataclass(Note)
    assert [one.name for one in fields(Note)] == [one.name for one in fields(Model)]
    assert vars(Note)["__match_args__"] == vars(Model)["__match_args__"]
    assert not hasattr(made, "__dict__")


@BOTH
def test_equal_by_value_of_one_class(kind: Any) -> None:
    assert kind("a", origin="here") == kind("a", origin="there")
    assert kind("a") != kind("b")
    assert kind("a", key="k") != kind("a")
    assert kind("a") != Point(1)
    assert kind("a").__eq__("a") is NotImplemented
    with pytest.raises(TypeError, match="unhashable"):
        hash(kind("a"))


def test_hash_by_value() -> None:
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert {Point(1, 2), Point(1, 2), Point(2, 1)} == {Point(1, 2), Point(2, 1)}


@BOTH
def test_nothing_is_set_or_deleted(kind: Any) -> None:
    made = kind("a")
    with pytest.raises(FrozenInstanceError):
        made.text = "b"
    with pytest.raises(FrozenInstanceError):
        del made.text
    with pytest.raises((AttributeError, TypeError)):
        made.unknown = 1
    assert made == kind("a")


@BOTH
def test_arguments(kind: Any) -> None:
    assert kind("a").names is not kind("a").names
    for wrong in ((), ("a", Point(1), ["by place"])):
        with pytest.raises(TypeError):
            kind(*wrong)
    with pytest.raises(TypeError):
        kind("a", unknown=1)


@BOTH
def test_copies(kind: Any) -> None:
    made = kind("a", Point(3), names=["x"], key="k", origin="o")
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (again, again.origin) == (made, "o")
        with pytest.raises(FrozenInstanceError):
            again.text = "b"
    assert replace(made, text="b") == kind("b", Point(3), names=["x"], key="k")


@pytest.mark.parametrize("decorator", [frozen, dataclass(frozen=True, slots=True)])
def test_what_a_class_defines_stays(decorator: Decorator) -> None:
    seen: list[str] = []

    class Own:
        """A class with methods of its own."""

        text: str = "x"

        def __post_init__(self) -> None:
            seen.append(self.text)

        def __repr__(self) -> str:
            return "mine"

    made: Any = decorator(Own)
    assert repr(made("y")) == "mine"
    assert seen == ["y"]


@pytest.mark.parametrize("decorator", [frozen, dataclass(frozen=True, slots=True)])
def test_fields_are_inherited(decorator: Decorator) -> None:
    @decorator
    class Base:
        """A base."""

        a: int = 1

    @decorator
    class Sub(Base):
        """A class below it."""

        b: int = 2

    made: Any = Sub
    assert repr(made(b=5)).endswith("Sub(a=1, b=5)")
    assert made(3) == made(3, 2)
    assert made() != Base()


def test_match() -> None:
    match Point(4, 5):
        case Point(x, y=5):
            assert x == 4
        case _:
            pytest.fail("it does not match")


@pytest.mark.parametrize("decorator", [frozen, dataclass(frozen=True, slots=True)])
def test_names_of_fields_mean_nothing(decorator: Decorator) -> None:
    @decorator
    class Named:
        """A class whose fields are called like what sets them."""

        x: int
        set_x: int = 2
        default_x: int = 3
        names: list[str] = field(default_factory=list)
        make_names: int = 4

    made: Any = Named
    assert astuple(made(1)) == (1, 2, 3, [], 4)


@pytest.mark.parametrize("decorator", [frozen, dataclass(frozen=True, slots=True)])
def test_equality_of_its_own_leaves_the_hash(decorator: Decorator) -> None:
    @decorator
    class Own:
        """A class that is equal in its own way."""

        x: int = 1

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

    assert Own() == Own()
    assert hash(Own()) == hash(Own())


@BOTH
def test_a_wrong_argument_is_told_with_the_name_of_the_class(kind: Any) -> None:
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.__init__\(\) missing 1 required"):
        kind()


def test_what_would_not_be_done_as_in_a_dataclass_is_refused() -> None:
    class Given:
        """A class with an argument that is no field."""

        x: InitVar[int]

    class Unset:
        """A class with a field that nobody would set."""

        x: int = field(default=1, init=False)

    for kind in (Given, Unset):
        with pytest.raises(TypeError, match="must be"):
            frozen(kind)


def test_a_class_of_which_nothing_is_made_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_init = utils.frozen._init

    def compile_seen(made: type, parts: Any) -> Any:
        compiled.append(made.__name__)
        return compile_init(made, parts)

    monkeypatch.setattr(utils.frozen, "_init", compile_seen)

    @frozen
    class Late:
        """A class of which objects are made late."""

        x: int
        y: int = 2

    assert compiled == []
    with pytest.raises(TypeError, match=r"Late.__init__\(\) missing 1 required"):
        Late()  # type: ignore[call-arg]
    assert (Late(1), Late(x=1, y=2)) == (Late(1, 2), Late(1))
    assert compiled == ["Late"]


@pytest.mark.parametrize("decorator", [frozen(kw_only=True), MODEL_BY_NAME])
def test_arguments_by_name_alone(decorator: Decorator) -> None:
    @decorator
    class Named:
        """A class whose arguments are said by name, in any order."""

        x: int = 1
        y: int

    made: Any = Named
    assert astuple(made(y=3)) == (1, 3)
    assert replace(made(y=3), x=2) == made(x=2, y=3)
    with pytest.raises(TypeError):
        made(1, 3)


def test_a_field_that_is_needed_stands_before_those_that_are_not() -> None:
    with pytest.raises(TypeError, match="'y' has no default"):

        @frozen
        class Wrong:
            """A class that no call could make without saying everything."""

            x: int = 1
            y: int  # type: ignore[misc]
