"""Credentials in a shown toolchain by other names, in other places and forms: none can be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program, Sandbox
from tests.modules.sandbox.sandbox_home import home_of_process, run_to_end
from tests.modules.sandbox.toolchains.layouts import Layout, every_manager

pytestmark = pytest.mark.as_root

NODE = ".nvm/versions/node/v20.1.0"
TEXTS = {
    "npm": "//registry.example/:_authToken=npm_{secret}\n",
    "netrc": "machine example login me password {secret}\n",
    "toml": '[registry]\ntoken = "{secret}"\n',
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\n{secret}\n-----END OPENSSH PRIVATE KEY-----\n",
    "url": "index-url = https://me:{secret}@index.example/simple\n",
    "xml": "<server><password>{secret}</password></server>\n",
    "shell": "export GITHUB_TOKEN={secret}\n",
    "json": '{{"apiKey": "{secret}"}}\n',
    "plain": "{secret}\n",
    "bare": "ghp_{secret}\n",
}
PLACES = {
    "beside node": (f"{NODE}/bin/.npmrc", "npm"),
    "beside what npm installed": (f"{NODE}/lib/.npmrc", "npm"),
    "in a folder of a package": (f"{NODE}/lib/node_modules/mine/sub/deep/er/.npmrc", "npm"),
    "in a hidden folder": (".cargo/.private/credentials.toml", "toml"),
    "capital letters": (".cargo/CREDENTIALS.TOML", "toml"),
    "a copy of an editor": (".cargo/credentials.toml~", "toml"),
    "a copy with a date": (".cargo/config.toml.bak.old", "toml"),
    "a copy of a copy": (".nvm/.npmrc.bak.orig", "npm"),
    "of an editor that was killed": (".nvm/.npmrc.swp", "npm"),
    "another name with an end": (".cargo/mine.toml", "toml"),
    "another name without an end": (".nvm/.mine", "npm"),
    "a script to enter": ("miniconda3/envs/science/bin/activate-mine", "shell"),
    "a script of a shell": (".rustup/env.sh", "shell"),
    "a script of another shell": (".sdkman/bin/mine.fish", "shell"),
    "deep in settings": ("miniconda3/etc/a/b/c/d/e/f/g", "url"),
    "in settings without an end": (".sdkman/etc/company", "xml"),
    "a key called like a program": (".volta/tools/deploy", "key"),
    "a token called like a text": (".volta/tools/README", "bare"),
    "a key by its end": (".volta/tools/image/node/deploy.key", "plain"),
    "a store of keys": ("Android/Sdk/tools/debug.jks", "plain"),
    "a key by its name": (".pyenv/versions/3.12.1/lib/id_ed25519", "plain"),
    "a password by its name": (".rustup/toolchains/stable/password", "plain"),
    "a token by its name": (".rustup/toolchains/stable/lib/token", "plain"),
    "an environment": (".pyenv/versions/3.12.1/.env.production", "shell"),
    "history of a shell": (".sdkman/tmp/.bash_history", "plain"),
    "what docker keeps": (".asdf/hosts.yml", "plain"),
    "json of a tool": (".local/share/uv/tools/ruff/config.json", "json"),
    "a cluster": (".asdf/shims/kubeconfig", "plain"),
    "index of the web": (".local/share/pypoetry/venv/.pypirc", "plain"),
    "what terraform made": (".asdf/installs/tool/terraform.tfstate", "plain"),
    "a netrc without a dot": (".volta/tools/image/node/share/deep/er/netrc", "netrc"),
    "a netrc of windows": (".cargo/bin/_netrc", "netrc"),
    "in a link of folders": (".nvm/alias-of/.netrc", "netrc"),
}
"""Named for where: (path, the form of what is in it)."""
LINKS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "a second name": (os.link, f"{NODE}/lib/part.so"),
    "a second name in a package": (os.link, f"{NODE}/lib/node_modules/npm/part.js"),
    "a second name of another toolchain": (os.link, ".rustup/toolchains/stable/lib/part"),
    "a link that leads there": (os.symlink, f"{NODE}/lib/leads"),
    "a link in a folder of programs": (os.symlink, f"{NODE}/bin/leads"),
}
TELL = """
import os
for top in {tops!r}:
    for folder, _, names in os.walk(top, followlinks=True):
        for name in names:
            path = os.path.join(folder, name)
            try: data = open(path, 'rb').read(100_000)
            except OSError: continue
            for secret in {secrets!r}:
                if secret.encode() in data: print('read', secret, path)
print('looked at', sum(len(names) for top in {tops!r} for _, _, names in os.walk(top)))
"""


@dataclass(frozen=True)
class Planted:
    """What a program read of what was planted."""

    output: str

    def leaked(self, secret: str) -> list[str]:
        return [line for line in self.output.splitlines() if f"read {secret} " in line]


def secret_of(name: str) -> str:
    return f"CANARY{[*PLACES, *LINKS].index(name):03}abcdefghij0123456789"


def plant(layout: Layout) -> None:
    for name, (path, form) in PLACES.items():
        layout.file(path, TEXTS[form].format(secret=secret_of(name)))
    for name, (link, path) in LINKS.items():
        own = layout.file(f".ssh/id_{list(LINKS).index(name)}_rsa", secret_of(name))
        own = own.rename(own.with_name("id_rsa")) if name == "a second name" else own
        (layout.home / path).parent.mkdir(parents=True, exist_ok=True)
        link(own, layout.home / path)


@pytest.fixture(scope="module", params=["A", "C"])
def planted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Planted]:
    with (
        pytest.MonkeyPatch.context() as patch,
        home_of_process(tmp_path_factory.mktemp("h")) as home,
    ):
        if request.param == "C":
            patch.setattr(selftest, "BWRAP_PATHS", ())
        layout = every_manager(home.home)
        plant(layout)
        sandbox = Sandbox(
            home.project, hidden=[home.data], cache_folder=home.data,
            environment=layout.environment(),
        )  # fmt: skip
        assert sandbox.report().tier == request.param
        secrets = [secret_of(name) for name in (*PLACES, *LINKS)]
        tops = [str(folder) for folder in sandbox.toolchains().folders]
        code = TELL.format(tops=tops, secrets=secrets)
        output = run_to_end(sandbox, Program("python", code)).output
        assert int(output.rpartition("looked at ")[2]) > 30  # the toolchains are there
        yield Planted(output)
        sandbox.close()


@pytest.mark.parametrize("name", [*PLACES, *LINKS])
def test_it_is_not_read(planted: Planted, name: str) -> None:
    assert planted.leaked(secret_of(name)) == []
