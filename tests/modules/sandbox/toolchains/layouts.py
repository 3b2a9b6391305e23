"""Homes as the managers of toolchains lay them out, with scripts for programs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Layout:
    """A home with toolchains: *path* and *variables* are what a person's shell would have."""

    home: Path
    path: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    programs: dict[str, Path] = field(default_factory=dict)

    def environment(self, *, before: str = "") -> dict[str, str]:
        path = ":".join(filter(None, (before, *self.path, "/usr/local/bin:/usr/bin:/bin")))
        return {"PATH": path, **self.variables}

    def program(self, name: str, folder: str, *, text: str = "") -> Path:
        """Make the script *name* in *folder* of the home, which says its name and its folder."""
        path = self.home / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or f'#!/bin/sh\necho "{name} ran"\n')
        path.chmod(0o755)
        self.programs[name] = path
        return path

    def file(self, name: str, text: str = "") -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def on_path(self, *folders: str) -> None:
        self.path += [os.fspath(self.home / folder) for folder in folders]

    def link(self, name: str, target: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def every_manager(home: Path) -> Layout:
    """Lay out all managers in *home*, as after their own installation."""
    made = Layout(home)
    for lay_out in (_node, _rust, _python, _conda, _go, _java, _others):
        lay_out(made)
    return made


def _node(made: Layout) -> None:
    made.program("node", ".nvm/versions/node/v20.1.0/bin")
    made.program("npm-cli.js", ".nvm/versions/node/v20.1.0/lib/node_modules/npm/bin")
    made.link(".nvm/versions/node/v20.1.0/bin/npm", "../lib/node_modules/npm/bin/npm-cli.js")
    made.file(".nvm/nvm.sh")
    made.on_path(".nvm/versions/node/v20.1.0/bin")
    made.variables["NVM_DIR"] = str(made.home / ".nvm")
    made.program("yarn", ".volta/bin")
    made.on_path(".volta/bin")
    made.variables["VOLTA_HOME"] = str(made.home / ".volta")
    made.program("fnm-node", ".local/share/fnm/node-versions/v22/installation/bin")
    made.link(
        "run/fnm_multishells/1_2", f"{made.home}/.local/share/fnm/node-versions/v22/installation"
    )
    made.on_path("run/fnm_multishells/1_2/bin")
    made.variables["FNM_DIR"] = str(made.home / ".local/share/fnm")


def _rust(made: Layout) -> None:
    made.program("rustup", ".cargo/bin")
    made.link(".cargo/bin/cargo", "rustup")
    made.on_path(".cargo/bin")
    made.file(".cargo/registry/index")
    made.file(".rustup/settings.toml", 'version = "12"\n')
    made.variables["RUSTUP_TOOLCHAIN"] = "stable"


def _python(made: Layout) -> None:
    made.program("pyshim", ".pyenv/shims")
    made.program("python3.12", ".pyenv/versions/3.12.1/bin")
    made.on_path(".pyenv/shims", ".pyenv/bin")
    (made.home / ".pyenv/bin").mkdir()
    made.variables["PYENV_ROOT"] = str(made.home / ".pyenv")
    made.program("uv", ".local/bin")
    made.program("python3.13", ".local/share/uv/python/cpython-3.13.1-linux/bin")
    made.link(".local/share/uv/python/cpython-3.13", "cpython-3.13.1-linux")
    for tool, folder in (("ruff", "uv/tools/ruff"), ("black", "pipx/venvs/black")):
        made.program(tool, f".local/share/{folder}/bin")
        made.file(f".local/share/{folder}/pyvenv.cfg", "home = /nowhere\n")
        python = f"{made.home}/.local/share/uv/python/cpython-3.13/bin/python3.13"
        made.link(f".local/share/{folder}/bin/python", python)
        made.link(f".local/bin/{tool}", f"{made.home}/.local/share/{folder}/bin/{tool}")
    made.program("poetry", ".local/share/pypoetry/venv/bin")
    made.file(".local/share/pypoetry/venv/pyvenv.cfg")
    made.link(".local/bin/poetry", "../share/pypoetry/venv/bin/poetry")
    made.on_path(".local/bin")


def _conda(made: Layout) -> None:
    made.program("conda", "miniconda3/condabin")
    made.program("mamba", "miniconda3/envs/science/bin")
    made.on_path("miniconda3/envs/science/bin", "miniconda3/condabin")
    made.variables["CONDA_PREFIX"] = str(made.home / "miniconda3/envs/science")
    made.variables["CONDA_DEFAULT_ENV"] = "science"


def _go(made: Layout) -> None:
    made.program("go", "sdk/go1.22/bin")
    (made.home / "sdk/go1.22/pkg/include").mkdir(parents=True)
    made.variables["GOROOT"] = str(made.home / "sdk/go1.22")
    made.program("gopls", "go/bin")
    made.file("go/pkg/mod/cache/private", "CANARY of a private module")
    made.on_path("sdk/go1.22/bin", "go/bin")


def _java(made: Layout) -> None:
    made.program("java", ".sdkman/candidates/java/21/bin")
    made.link(".sdkman/candidates/java/current", "21")
    made.program("mvn", ".sdkman/candidates/maven/3.9/bin")
    made.on_path(".sdkman/candidates/java/current/bin", ".sdkman/candidates/maven/3.9/bin")
    made.variables["SDKMAN_DIR"] = str(made.home / ".sdkman")
    made.variables["JAVA_HOME"] = str(made.home / ".sdkman/candidates/java/current")
    made.program("adb", "Android/Sdk/platform-tools")
    made.on_path("Android/Sdk/platform-tools")
    made.variables["ANDROID_HOME"] = str(made.home / "Android/Sdk")


def _others(made: Layout) -> None:
    made.program("asdf", ".asdf/bin")
    made.program("elixir", ".asdf/shims")
    made.on_path(".asdf/bin", ".asdf/shims")
    made.variables["ASDF_DIR"] = str(made.home / ".asdf")
    made.file(".tool-versions", "elixir 1.16\n")
    made.program("erl", ".local/share/mise/shims")
    made.on_path(".local/share/mise/shims")
    made.program("brewed", ".linuxbrew/Cellar/brewed/1/bin")
    made.link(".linuxbrew/bin/brewed", "../Cellar/brewed/1/bin/brewed")
    made.on_path(".linuxbrew/bin")
    made.variables["HOMEBREW_PREFIX"] = str(made.home / ".linuxbrew")
    made.program("hello", "opt/vendor/bin")
    made.file("opt/vendor/lib/part.so")
    made.on_path("opt/vendor/bin")
    made.program("mine", "bin")
    made.on_path("bin")
