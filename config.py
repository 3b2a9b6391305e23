"""The settings: frozen, typed, each with one place it may come from last.

defaults < `config.toml` in the data folder < `.env` beside `main.py` < environment < command line.
A bad value raises `Problem`, which names the setting, where it came from and what is allowed. No
other module reads the environment; values are passed on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from utils.clean import visible
from utils.dotenv import read_dotenv
from utils.phrases import Phrase, Problem, Text, phrase
from utils.prices import PriceList

ROOT = Path(__file__).resolve().parent
VERSION = "0.1.0"
Language = Literal["en", "zh"]
DEEPSEEK = "https://api.deepseek.com"


def _choice(*allowed: str) -> dict[str, Any]:
    def parse(value: object) -> str:
        if value not in allowed:
            raise ValueError
        return str(value)

    return {"parse": parse, "allowed": ", ".join(filter(None, allowed))}


def _number(kind: type[int] | type[float], low: float, high: float) -> dict[str, Any]:
    def parse(value: object) -> float:
        accepted = str | int if kind is int else str | int | float
        if isinstance(value, bool) or not isinstance(value, accepted):
            raise ValueError
        number = kind(value)
        if not low <= number <= high:
            raise ValueError
        return number

    if kind is int:
        allowed = phrase("a whole number from {low} to {high}", low=low, high=high)
    else:
        allowed = phrase("a number from {low} to {high}", low=low, high=high)
    return {"parse": parse, "allowed": allowed}


def _text() -> dict[str, Any]:
    def parse(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError
        return value.strip()

    return {"parse": parse, "allowed": phrase("text")}


def _hosts() -> dict[str, Any]:
    def parse(value: object) -> tuple[str, ...]:
        names = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(
            isinstance(name, str) and re.fullmatch(r"\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", name)
            for name in names
        ):
            raise ValueError
        return tuple(names)

    return {"parse": parse, "allowed": phrase("host names such as example.org or .example.org")}


def _address() -> dict[str, Any]:
    def parse(value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", value):
            raise ValueError
        return value.rstrip("/")

    return {"parse": parse, "allowed": phrase("an address such as {address}", address=DEEPSEEK)}


def _yes_no() -> dict[str, Any]:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "0": False,
        "false": False,
        "no": False,
        "": False,
    }

    def parse(value: object) -> bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() not in words:
            raise ValueError
        return words[str(value).lower()]

    return {"parse": parse, "allowed": phrase("true or false")}


def _prices() -> dict[str, Any]:
    def parse(value: object) -> PriceList:
        if not isinstance(value, dict) or value.keys() - {"models", "peak_factor", "peak_hours"}:
            raise ValueError
        try:
            return PriceList.of(value)
        except LookupError as error:
            raise ValueError from error

    return {"parse": parse, "allowed": phrase("a table, see docs/settings.md")}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting and its default; the names are those of `config.toml`."""

    deepseek_api_key: str = field(default="", metadata=_text(), repr=False)
    deepseek_base_url: str = field(default=DEEPSEEK, metadata=_address())
    tavily_api_key: str = field(default="", metadata=_text(), repr=False)
    tavily_base_url: str = field(default="https://api.tavily.com", metadata=_address())
    data_dir: Path = field(default=ROOT / "data", metadata={})
    lang: Language | Literal[""] = field(default="", metadata=_choice("", "en", "zh"))
    model: str = field(default="deepseek-flash", metadata=_text())
    mode: Literal["fast", "think"] = field(default="fast", metadata=_choice("fast", "think"))
    effort: str = field(default="high", metadata=_choice("low", "high", "max"))
    approve: Literal["guarded", "ask", "read-only", "all"] = field(
        default="guarded", metadata=_choice("guarded", "ask", "read-only", "all")
    )
    step_limit: int = field(default=20, metadata=_number(int, 1, 100_000))
    max_tokens: int = field(default=65_536, metadata=_number(int, 256, 393_216))
    context_limit: int = field(default=1_048_576, metadata=_number(int, 4_096, 100_000_000))
    budget_usd: float = field(default=0.0, metadata=_number(float, 0, 1_000_000))
    idle_seconds: float = field(default=180.0, metadata=_number(float, 1, 3_600))
    retries: int = field(default=5, metadata=_number(int, 0, 100))
    allow_unsandboxed: bool = field(default=False, metadata=_yes_no())
    hide_secrets: bool = field(default=True, metadata=_yes_no())
    network_hosts: tuple[str, ...] = field(default=(), metadata=_hosts())
    checkpoint_file_mb: int = field(default=100, metadata=_number(int, 1, 1_000_000))
    checkpoint_total_mb: int = field(default=5_000, metadata=_number(int, 1, 10_000_000))
    checkpoint_days: int = field(default=30, metadata=_number(int, 1, 36_500))
    prices: PriceList = field(default_factory=PriceList, metadata=_prices())

    @property
    def secrets(self) -> dict[str, str]:
        """The keys in use, and what else in the environment has the name of something secret."""
        telling = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)")
        found = {name: value for name, value in os.environ.items() if telling.search(name.upper())}
        ours = ("deepseek_api_key", "tavily_api_key")
        return found | {name.upper(): getattr(self, name) for name in ours}

    @property
    def pip_variables(self) -> dict[str, str]:
        """What in the environment says where packages come from."""
        names = ("PIP_", "XDG_CONFIG_")
        return {name: value for name, value in os.environ.items() if name.startswith(names)}

    @property
    def language(self) -> Language:
        """The language of the screen."""
        return self.lang or locale_language(os.environ)


def language() -> Language:
    """Return the screen language; of settings that cannot be read, ONEFOLD_LANG or the locale's."""
    with suppress(Problem):
        return load().language
    said = os.environ.get("ONEFOLD_LANG")
    return "zh" if said == "zh" else "en" if said == "en" else locale_language(os.environ)


def locale_language(environment: Mapping[str, str]) -> Language:
    """Return the screen language that the locale in *environment* asks for."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


_FIELDS = {setting.name: setting for setting in fields(Settings)}
_VARIABLES = {
    name.upper() if name.startswith(("deepseek_", "tavily_")) else f"ONEFOLD_{name.upper()}": name
    for name in _FIELDS
    if name != "prices"
}
_NO_SETTINGS = ("ONEFOLD_BOOTSTRAP", "ONEFOLD_NO_SKIP")
"""Read before there are settings, and by the tests."""


def _data_dir(named: str) -> Path:
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError as error:  # "~somebody" whom the system does not know
        raise Problem(phrase("ONEFOLD_DATA_DIR cannot be used: {why}.", why=str(error))) from None


def load(
    options: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    dotenv: Path = ROOT / ".env",
) -> Settings:
    """Return the settings; *options* are those of the command line, None in it meaning unsaid.

    Raises `Problem` for a bad value, an unknown name in `config.toml` or a file that cannot be
    read.
    """
    variables = _variables(environment, dotenv)
    named = [source["ONEFOLD_DATA_DIR"] for source, _ in variables if "ONEFOLD_DATA_DIR" in source]
    data_dir = _data_dir(named[0]) if named and named[0] else ROOT / "data"
    values: dict[str, Any] = {}
    toml = data_dir / "config.toml"
    for name, value in _read_toml(toml).items():
        values[name] = _checked(name, value, str(toml))
    for source, place in reversed(variables):
        for variable, name in _VARIABLES.items():
            if name != "data_dir" and source.get(variable):
                values[name] = _checked(
                    name,
                    source[variable],
                    phrase("{variable} in {place}", variable=variable, place=place),
                )
    for name, value in (options or {}).items():
        if value is not None:
            values[name] = _checked(name, value, phrase("the command line"))
    return Settings(**values, data_dir=data_dir)


def unknown_names(
    *, environment: Mapping[str, str] | None = None, dotenv: Path = ROOT / ".env"
) -> list[Phrase]:
    """Return a warning for each variable that has the look of a setting of ours and is none.

    An unknown name in `config.toml` is an error: nobody else has anything to say there.
    """
    known = [*_VARIABLES, *_NO_SETTINGS]
    return [
        phrase(
            "There is no setting {name} ({source}). Did you mean {near}?",
            name=visible(name),
            source=place,
            near=get_close_matches(name, known, n=1, cutoff=0.0)[0],
        )
        for source, place in _variables(environment, dotenv)
        for name in sorted(source)
        if name.startswith("ONEFOLD_") and name not in known
    ]


def _variables(
    environment: Mapping[str, str] | None, dotenv: Path
) -> list[tuple[Mapping[str, str], Text]]:
    """Return each source of variables and what it is called, the strongest first."""
    environment = os.environ if environment is None else environment
    return [(environment, phrase("the environment")), (_read_dotenv(dotenv), str(dotenv))]


def _checked(name: str, value: Any, source: Text) -> Any:
    if name not in _FIELDS or name == "data_dir":
        near = get_close_matches(name, [n for n in _FIELDS if n != "data_dir"], n=1, cutoff=0.0)
        raise Problem(
            phrase(
                "There is no setting {name} ({source}). Did you mean {near}?",
                name=name,
                source=source,
                near=near[0],
            )
        )
    parse: Callable[[Any], Any] = _FIELDS[name].metadata["parse"]
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError):
        shown = "…" if "key" in name else repr(value)
        allowed = _FIELDS[name].metadata["allowed"]
        raise Problem(
            phrase(
                "The setting {name} cannot be {value} ({source}). Allowed: {allowed}.",
                name=name,
                value=shown,
                source=source,
                allowed=allowed,
            )
        ) from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    import tomllib  # only when there is a file: it costs start-up time

    try:
        return tomllib.loads(data.decode())
    except ValueError as error:
        raise _unreadable(path, str(error)) from None


def _read_dotenv(path: Path) -> dict[str, str]:
    try:
        return read_dotenv(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from None


def _unreadable(path: Path, why: str) -> Problem:
    return Problem(
        phrase("{path} cannot be read: {why}. Mend or remove it.", path=str(path), why=why)
    )
