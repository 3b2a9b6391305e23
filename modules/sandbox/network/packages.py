"""The network for packages: the indexes of all usual managers, as the person configured them.

Where a program may go is all that it learns of that; what lets the person in is put in by the
proxy, for reading and for that place alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from modules.sandbox.network.compiled_registries import (
    cargo_registries,
    go_registries,
    uv_registries,
)
from modules.sandbox.network.javascript_registries import javascript_registries
from modules.sandbox.network.other_registries import (
    composer_registries,
    maven_registries,
    ruby_registries,
)
from modules.sandbox.network.own_config import OwnConfig, merged
from modules.sandbox.network.package_index import network_of, pip_settings
from modules.sandbox.types import Network, Origin

USUAL_INDEXES = (
    *("pypi.org", "files.pythonhosted.org", "conda.anaconda.org", "repo.anaconda.com"),
    *("registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com", "nodejs.org"),
    *("index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org"),
    *("proxy.golang.org", "sum.golang.org"),
    *("repo.maven.apache.org", "repo1.maven.org", "maven.google.com", "dl.google.com"),
    *("plugins.gradle.org", "plugins-artifacts.gradle.org", "services.gradle.org"),
    *("rubygems.org", "index.rubygems.org"),
    *("repo.packagist.org", "packagist.org", "api.github.com", "codeload.github.com"),
)
"""Hosts that managers go to when nothing is configured, with those where the files are."""
_QUIET = dict.fromkeys(
    ("npm_config_audit", "npm_config_fund", "npm_config_update_notifier"), "false"
)
"""What would send something, and be refused."""
_READERS = (
    javascript_registries,
    uv_registries,
    cargo_registries,
    go_registries,
    maven_registries,
    ruby_registries,
    composer_registries,
)


def package_network(
    project: Path, variables: Mapping[str, str], extra_hosts: tuple[str, ...] = ()
) -> Network:
    """Return the way to packages, and to *extra_hosts*.

    *variables* are those of the person's environment. Files in *project* say nothing here.
    """
    own = OwnConfig(Path.home(), project.resolve(), variables)
    found = merged(reader(own) for reader in _READERS)
    settings = pip_settings(
        {name: value for name, value in variables.items() if name.startswith(("PIP_", "XDG_"))}
    )
    pip = network_of(settings)
    origins = [*_intercepted(pip.origins, settings.get("cert", "")), *found.origins]
    return Network(
        extra_hosts,
        {**_QUIET, **pip.variables, **found.variables},
        tuple(dict.fromkeys(origins)),
        pip.folders,
        pip.certificates,
        USUAL_INDEXES,
        found.files,
        found.notes,
    )


def _intercepted(origins: tuple[Origin, ...], certificates: str) -> Iterator[Origin]:
    """Yield pip's *origins*, those that programs reach by themselves for reading alone."""
    for origin in origins:
        is_fetched = origin.is_fetched
        yield (
            origin
            if is_fetched
            else replace(origin, is_intercepted=True, certificates=certificates)
        )
