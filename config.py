"""The settings: frozen, typed, each with one place it may come from last.

defaults < `config.toml` in the data folder < `.env` < environment < command line; the `.env` is the
one beside `main.py`, or in the data folder where Onefold is installed. A bad value raises
`UserError`, which names the setting, where it came from and what is allowed. No other module reads
the environment; values are passed on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from utils import setting_kinds as kinds
from utils.bootstrap import STARTED_BY
from utils.dotenv import read_dotenv
from utils.frozen import frozen
from utils.i18n import BadUsage, Phrase, Text, UserError, phrase
from utils.llm.prices import PriceList
from utils.system.installation import (
    commit_of,
    is_installed,
    platform_data_folder,
    unpacked_archives,
)
from utils.text.clean import visible
from utils.text.nearest import nearest_name

if TYPE_CHECKING:
    from utils.llm.provider import Provider

ROOT = Path(__file__).resolve().parent
VERSION = "0.1.0"
IS_INSTALLED = is_installed(ROOT)
DATA = platform_data_folder(os.environ) if IS_INSTALLED else ROOT / "data"
DOTENV = (DATA if IS_INSTALLED else ROOT) / ".env"
Language = Literal["en", "zh"]
DEEPSEEK = "https://api.deepseek.com"
ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"


@frozen(kw_only=True)
class Settings:
    """Every setting and its default; the names are those of `config.toml`."""

    deepseek_api_key: str = field(default="", metadata=kinds.key(), repr=False)
    deepseek_base_url: str = field(
        default=DEEPSEEK, metadata=kinds.address(DEEPSEEK, allows_query=True)
    )
    anthropic_api_key: str = field(default="", metadata=kinds.key(), repr=False)
    anthropic_base_url: str = field(default=ANTHROPIC, metadata=kinds.address(ANTHROPIC))
    openai_api_key: str = field(default="", metadata=kinds.key(), repr=False)
    openai_base_url: str = field(default=OPENAI, metadata=kinds.address(OPENAI, allows_query=True))
    tavily_api_key: str = field(default="", metadata=kinds.key(), repr=False)
    tavily_base_url: str = field(default="https://api.tavily.com", metadata=kinds.address(DEEPSEEK))
    data_dir: Path = field(default=DATA, metadata={})
    lang: Language | Literal[""] = field(default="", metadata=kinds.choice("", "en", "zh"))
    keys: Literal["emacs", "vim"] = field(default="emacs", metadata=kinds.choice("emacs", "vim"))
    shortcuts: Mapping[str, str] = field(default_factory=dict, metadata=kinds.shortcuts())
    model: str = field(default="deepseek-flash", metadata=kinds.name())
    helper_model: str = field(default="", metadata=kinds.text())
    mode: Literal["fast", "think"] = field(default="fast", metadata=kinds.choice("fast", "think"))
    depth: Literal["auto", "brief", "standard", "deep"] = field(
        default="auto", metadata=kinds.choice("auto", "brief", "standard", "deep")
    )
    effort: str = field(default="high", metadata=kinds.choice("low", "high", "max"))
    protocol: Literal["", "native", "vcp"] = field(
        default="", metadata=kinds.choice("", "native", "vcp")
    )
    approve: Literal["guarded", "ask", "plan", "read-only", "all"] = field(
        default="guarded", metadata=kinds.choice("guarded", "ask", "plan", "read-only", "all")
    )
    encoding: str = field(default="", metadata=kinds.encoding())
    step_limit: int = field(default=100, metadata=kinds.number(int, 0, 100_000))
    max_tokens: int = field(default=65_536, metadata=kinds.number(int, 256, 393_216))
    context_limit: int = field(default=1_048_576, metadata=kinds.number(int, 4_096, 100_000_000))
    budget_usd: float = field(default=0.0, metadata=kinds.number(float, 0, 1_000_000))
    task_budget: float = field(default=0.0, metadata=kinds.number(float, 0, 1_000_000))
    daily_budget: float = field(default=0.0, metadata=kinds.number(float, 0, 1_000_000))
    when: Literal["now", "off-peak"] = field(
        default="now", metadata=kinds.choice("now", "off-peak")
    )
    run_seconds: int = field(default=60, metadata=kinds.number(int, 1, 43_200))
    call_seconds: int = field(default=600, metadata=kinds.number(int, 1, 43_200))
    memory_mb: int = field(default=2_048, metadata=kinds.number(int, 64, 100_000_000))
    processes: int = field(default=256, metadata=kinds.number(int, 8, 1_000_000))
    disk_mb: int = field(default=1_024, metadata=kinds.number(int, 2, 100_000_000))
    tmp_mb: int = field(default=256, metadata=kinds.number(int, 1, 100_000_000))
    home_mb: int = field(default=5_000, metadata=kinds.number(int, 0, 10_000_000))
    output_mb: int = field(default=20, metadata=kinds.number(int, 1, 200))
    verify: Literal["", "true", "false"] = field(default="", metadata=kinds.yes_no_or_neither())
    checks: tuple[str, ...] = field(default=(), metadata=kinds.commands())
    checks_seconds: int = field(default=120, metadata=kinds.number(int, 1, 43_200))
    idle_seconds: float = field(default=180.0, metadata=kinds.number(float, 1, 3_600))
    retries: int = field(default=5, metadata=kinds.number(int, 0, 100))
    allow_outside: bool = field(default=False, metadata=kinds.yes_no())
    allow_unsandboxed: bool = field(default=False, metadata=kinds.yes_no())
    git_hooks: bool = field(default=False, metadata=kinds.yes_no())
    hide_secrets: bool = field(default=True, metadata=kinds.yes_no())
    operations_log: bool = field(default=False, metadata=kinds.yes_no())
    notify: Literal["off", "bell", "desktop"] = field(
        default="off", metadata=kinds.choice("off", "bell", "desktop")
    )
    notify_seconds: float = field(default=10.0, metadata=kinds.number(float, 0, 3_600))
    title: bool = field(default=False, metadata=kinds.yes_no())
    theme: Literal["auto", "light", "dark", "contrast"] = field(
        default="auto", metadata=kinds.choice("auto", "light", "dark", "contrast")
    )
    plain: bool = field(default=False, metadata=kinds.yes_no())
    web_terminal: Literal["off", "local", "remote"] = field(
        default="off", metadata=kinds.choice("off", "local", "remote")
    )
    trace: str = field(default="", metadata=kinds.text())
    trace_content: bool = field(default=False, metadata=kinds.yes_no())
    keep_json: bool = field(default=False, metadata=kinds.yes_no())
    network_hosts: tuple[str, ...] = field(default=(), metadata=kinds.hosts())
    show_folders: tuple[Path, ...] = field(default=(), metadata=kinds.folders())
    checkpoint_file_mb: int = field(default=100, metadata=kinds.number(int, 1, 1_000_000))
    checkpoint_total_mb: int = field(default=5_000, metadata=kinds.number(int, 1, 10_000_000))
    checkpoint_days: int = field(default=30, metadata=kinds.number(int, 1, 36_500))
    project_map_tokens: int = field(default=600, metadata=kinds.number(int, 0, 1_000_000))
    mcp_tokens: int = field(default=4_000, metadata=kinds.number(int, 0, 1_000_000))
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, metadata=kinds.models())
    providers: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict, metadata=kinds.providers(), repr=False
    )
    prices: PriceList = field(default_factory=PriceList, metadata=kinds.prices())
    sources: Mapping[str, Text] = field(default_factory=dict, metadata={}, repr=False)
    """Where each of them came from that is not its default; no setting itself."""

    @property
    def secrets(self) -> dict[str, str]:
        """The keys in use, and what else in the environment has the name of something secret."""
        from_environment = {
            name: value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper())
        }
        provider_keys = {
            f"{name.upper()}_API_KEY": table["api_key"] for name, table in self.providers.items()
        }
        return (
            from_environment | provider_keys | {name.upper(): getattr(self, name) for name in _KEYS}
        )

    @property
    def hidden_values(self) -> dict[str, str]:
        """What nobody may see of `secrets`, and of the environment what looks like a key or has a
        password in it. The latter stays with programs outside: a proxy's address is one such."""
        from utils.text.keys import holds_key

        found = {name: one for name, one in self.person_environment.items() if holds_key(one)}
        return found | self.secrets

    @property
    def usual_key(self) -> str:
        """The key that the server at `deepseek_base_url` is sent: one that is evidently for
        platform.deepseek.com goes to no program on this very machine."""
        if self.deepseek_base_url == DEEPSEEK or not _DEEPSEEK_KEY.fullmatch(self.deepseek_api_key):
            return self.deepseek_api_key
        from utils.llm.served_model import is_local

        return "" if is_local(self.deepseek_base_url) else self.deepseek_api_key

    @property
    def api_keys(self) -> tuple[str, ...]:
        """The keys of ours, for what must never show them."""
        own_keys = (self.deepseek_api_key, self.tavily_api_key)
        return (*own_keys, *(provider.key for provider in self.all_providers))

    @property
    def all_providers(self) -> list[Provider]:
        """The providers of models beside the usual server; those of `config.toml` last."""
        from utils.llm.account import ANTHROPIC_ACCOUNT, OPENAI_ACCOUNT, Account
        from utils.llm.provider import Provider

        built_in = [
            Provider(
                name="anthropic",
                base_url=self.anthropic_base_url,
                key=self.anthropic_api_key,
                account=ANTHROPIC_ACCOUNT,
                api="anthropic",
            ),
            Provider(
                name="openai",
                base_url=self.openai_base_url,
                key=self.openai_api_key,
                account=OPENAI_ACCOUNT,
            ),
        ]
        return built_in + [
            Provider(
                name=name,
                base_url=table["base_url"],
                key=table["api_key"],
                account=Account(
                    f"providers.{name}.api_key",
                    f"providers.{name}.base_url",
                    key_page=table["base_url"],
                    balance_page=table["base_url"],
                    api=table.get("api", "chat-completions"),
                ),
                api="anthropic" if table.get("api") == "anthropic" else "chat-completions",
                wants_key=False,
            )
            for name, table in self.providers.items()
        ]

    @property
    def person_environment(self) -> dict[str, str]:
        """The environment in which we were started: what only our settings know is not in it."""
        own_names = ("ONEFOLD_BOOTSTRAP", STARTED_BY)
        return {name: value for name, value in os.environ.items() if name not in own_names}

    @property
    def shell_environment(self) -> dict[str, str]:
        """The environment of the person's own shells: all of theirs but the keys of ours."""
        own_keys = {*self.api_keys, ""}
        own_names = {name.upper() for name in _KEYS}
        return {
            name: value
            for name, value in self.person_environment.items()
            if name not in own_names and (value not in own_keys or not value)
        }

    @property
    def git_variables(self) -> dict[str, str]:
        """The environment of git as the person: nothing that leads it elsewhere, no key of ours."""
        own_keys = {*self.api_keys, ""}
        return {
            name: value
            for name, value in self.person_environment.items()
            if value not in own_keys
            and (not name.startswith(("GIT_", "ONEFOLD_")) or name.startswith(_GIT_TRANSPORT))
        }

    @property
    def git_identity(self) -> tuple[str, str]:
        """The name and the address of the person's commits by the environment, "" for none."""
        variables = self.person_environment
        roles = ("AUTHOR", "COMMITTER")
        name, email = (
            next(filter(None, (variables.get(f"GIT_{role}_{what}") for role in roles)), "")
            for what in ("NAME", "EMAIL")
        )
        return name.strip(), email.strip()

    @property
    def loader_paths(self) -> list[str]:
        """What we load ourselves, and what the environment has Python and its libraries load."""
        path_lists = (os.environ.get(name, "").split(os.pathsep) for name in _LOADER_VARIABLES)
        own_places = map(str, (DOTENV, *unpacked_archives(ROOT)))
        return [*own_places, *(path for paths in path_lists for path in paths if path)]

    @property
    def language(self) -> Language:
        """The language of the screen."""
        return self.lang or locale_language(os.environ)


def full_version() -> str:
    """Return the version with the commit, where that is known."""
    commit = commit_of(ROOT)
    return f"{VERSION} ({commit})" if commit else VERSION


def language() -> Language:
    """Return the screen language; of settings that cannot be read, ONEFOLD_LANG or the locale's."""
    with suppress(UserError):
        return load().language
    value = os.environ.get("ONEFOLD_LANG")
    return "zh" if value == "zh" else "en" if value == "en" else locale_language(os.environ)


def locale_language(environment: Mapping[str, str]) -> Language:
    """Return the screen language that the locale in *environment* asks for."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


_FIELDS = {setting.name: setting for setting in fields(Settings) if setting.name != "sources"}
_KEYS = [name for name, setting in _FIELDS.items() if setting.metadata.get("is_secret")]
_UNPREFIXED_SETTINGS = ("deepseek_", "anthropic_", "openai_", "tavily_")
"""What begins the settings whose variables are called as everybody calls them."""
_VARIABLES = {
    name.upper() if name.startswith(_UNPREFIXED_SETTINGS) else f"ONEFOLD_{name.upper()}": name
    for name in _FIELDS
    if not _FIELDS[name].metadata.get("is_table")
}
_NON_SETTINGS = ("ONEFOLD_BOOTSTRAP", STARTED_BY, "ONEFOLD_NO_SKIP")
"""Read before there are settings, said by the bootstrap, and read by the tests."""
_SECRET_NAME = re.compile(
    r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(_|$)|_(PASS|PWD|PAT|AUTH)$"
)
_DEEPSEEK_KEY = re.compile("sk-[0-9a-f]{32}")
"""The form of those that platform.deepseek.com issues."""
_GIT_TRANSPORT = ("GIT_SSH", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_ASKPASS")
_LOADER_VARIABLES = (
    *(STARTED_BY, "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"),
    *("OPENSSL_CONF", "OPENSSL_MODULES", "SSL_CERT_FILE", "SSL_CERT_DIR", "GCONV_PATH"),
)
"""Variables with files and folders that Python and its libraries load."""


def _data_dir(value: str) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError as error:  # "~somebody" whom the system does not know
        why = str(error).rstrip(".")
        raise BadUsage(phrase("Cannot use ONEFOLD_DATA_DIR: {why}.", why=why)) from None


def load(
    options: Mapping[str, Any] | None = None,
    *,
    option_names: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    dotenv: Path = DOTENV,
) -> Settings:
    """Return the settings; *options* are those of the command line, None in it meaning unsaid;
    *option_names* has what those are called that have another name than their setting.

    Raises `UserError` for a bad value, an unknown name in `config.toml` or a file that cannot be
    read.
    """
    variables = _variables(environment, dotenv)
    data_dirs = [
        source["ONEFOLD_DATA_DIR"] for source, _ in variables if "ONEFOLD_DATA_DIR" in source
    ]
    data_dir = _data_dir(data_dirs[0]) if data_dirs and data_dirs[0] else DATA
    values: dict[str, Any] = {}
    sources: dict[str, Text] = {}

    def take(name: str, value: Any, source: Text) -> None:
        values[name] = parse_setting(name, value, source)
        sources[name] = source

    toml = data_dir / "config.toml"
    for name, value in _read_toml(toml).items():
        take(name, value, str(toml))
    for source, label in reversed(variables):
        for variable, name in _VARIABLES.items():
            if name != "data_dir" and source.get(variable):
                place = phrase("{variable} in {place}", variable=variable, place=label)
                take(name, source[variable], place)
    for name, value in (options or {}).items():
        if value is not None:
            option = (option_names or {}).get(name, f"--{name.replace('_', '-')}")
            take(name, value, option)
    return Settings(**values, data_dir=data_dir, sources=sources)


def unknown_names(
    *, environment: Mapping[str, str] | None = None, dotenv: Path = DOTENV
) -> list[Phrase]:
    """Return a warning for each variable that has the look of a setting of ours and is none.

    An unknown name in `config.toml` is an error: nobody else has anything to say there.
    """
    known_names = [*_VARIABLES, *_NON_SETTINGS]
    return [
        phrase(
            "Unknown setting {name} ({source}). Did you mean {near}?",
            name=visible(name),
            source=label,
            near=nearest_name(name, known_names, cutoff=0.0) or "",
        )
        for source, label in _variables(environment, dotenv)
        for name in sorted(source)
        if name.startswith("ONEFOLD_") and name not in known_names
    ]


def _variables(
    environment: Mapping[str, str] | None, dotenv: Path
) -> list[tuple[Mapping[str, str], Text]]:
    """Return each source of variables and what it is called, the strongest first."""
    environment = os.environ if environment is None else environment
    return [(environment, phrase("the environment")), (_dotenv_values(dotenv), str(dotenv))]


def parse_setting(name: str, value: Any, source: Text) -> Any:
    """Return *value* of the setting *name* as `Settings` has it. Raises `UserError`."""
    if name not in _FIELDS or name == "data_dir":
        near = nearest_name(name, [n for n in _FIELDS if n != "data_dir"], cutoff=0.0)
        raise BadUsage(
            phrase(
                "Unknown setting {name} ({source}). Did you mean {near}?",
                name=name,
                source=source,
                near=near or "",
            )
        )
    parse: Callable[[Any], Any] = _FIELDS[name].metadata["parse"]
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError):
        kind = _FIELDS[name].metadata
        displayed = "…" if kind.get("is_secret") or name == "providers" else repr(value)
        raise BadUsage(
            phrase(
                "Invalid value {value} for the setting {name} ({source}). Allowed: {allowed}.",
                name=name,
                value=displayed,
                source=source,
                allowed=kind["allowed"],
            )
        ) from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable_file(path, error.strerror or str(error)) from None
    import tomllib  # only when there is a file: it costs start-up time

    try:
        return tomllib.loads(data.decode("utf-8-sig"))  # editors on Windows begin it with a mark
    except ValueError as error:
        raise _unreadable_file(path, str(error)) from None


def _dotenv_values(path: Path) -> dict[str, str]:
    try:
        return read_dotenv(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable_file(path, str(error)) from None


def _unreadable_file(path: Path, why: str) -> UserError:
    return BadUsage(
        phrase("Cannot read {path}: {why}. Fix or remove the file.", path=str(path), why=why)
    )
