"""Managers of toolchains: the folders that each keeps its own in, and its variables.

Folders and variables are those of each manager's own documentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manager:
    """Manager of toolchains whose *root* is named by the first of *variables* that is set.

    Without one it is the first of *defaults* that exists, in the home unless it is absolute.
    """

    variables: tuple[str, ...]
    defaults: tuple[str, ...] = ()
    parts: tuple[str, ...] = ("",)
    """Folders of the root that are shown."""
    exported: str = ""
    """Variable that names the root for programs, whose home is another."""
    programs: tuple[str, ...] = ()
    """Programs that need the root, wherever they are themselves."""
    has_environments: bool = False
    """Whether the parts hold virtual environments, whose Python lies elsewhere."""
    is_always_shown: bool = False
    is_public: bool = False
    """Whether everybody on the machine reads it, so that nothing in it is secret."""


MANAGERS = (
    # JavaScript
    Manager(("NVM_DIR",), (".nvm", ".config/nvm"), exported="NVM_DIR"),
    Manager(("FNM_DIR",), (".local/share/fnm", ".fnm"), exported="FNM_DIR", programs=("fnm",)),
    Manager(("VOLTA_HOME",), (".volta",), exported="VOLTA_HOME"),
    Manager(("PNPM_HOME",), (".local/share/pnpm",), exported="PNPM_HOME"),
    Manager(("BUN_INSTALL",), (".bun",), ("bin", "install/global")),
    Manager(("DENO_INSTALL",), (".deno",), ("bin",)),
    Manager(
        ("PLAYWRIGHT_BROWSERS_PATH",),
        (".cache/ms-playwright",),
        exported="PLAYWRIGHT_BROWSERS_PATH",
        is_always_shown=True,
    ),
    Manager(
        ("PUPPETEER_CACHE_DIR",),
        (".cache/puppeteer",),
        exported="PUPPETEER_CACHE_DIR",
        is_always_shown=True,
    ),
    # Skills: what the model reads of them names programs of theirs
    Manager((), (".agents/skills",), is_always_shown=True),
    Manager((), (".claude/skills",), is_always_shown=True),
    # Rust; cargo's own folder has its tokens and what it downloads
    Manager(
        ("RUSTUP_HOME",),
        (".rustup",),
        exported="RUSTUP_HOME",
        programs=("rustup", "cargo", "rustc"),
    ),
    Manager(("CARGO_HOME",), (".cargo",), ("bin",)),
    # Python
    Manager(("PYENV_ROOT",), (".pyenv",), exported="PYENV_ROOT"),
    Manager(
        ("UV_PYTHON_INSTALL_DIR",),
        (".local/share/uv/python",),
        exported="UV_PYTHON_INSTALL_DIR",
        programs=("uv",),
    ),
    Manager(("UV_TOOL_DIR",), (".local/share/uv/tools",), has_environments=True),
    Manager(
        ("PIPX_HOME",),
        (".local/share/pipx", ".local/pipx"),
        ("venvs", "shared"),
        has_environments=True,
    ),
    Manager(("POETRY_HOME",), (".local/share/pypoetry",), has_environments=True),
    Manager(("MAMBA_ROOT_PREFIX",), ("micromamba",), exported="MAMBA_ROOT_PREFIX"),
    Manager(
        (), ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "mambaforge3", "/opt/conda")
    ),
    # Go; its other folder has what it downloads
    Manager(("GOROOT",), exported="GOROOT"),
    Manager(("GOPATH",), ("go",), ("bin",)),
    # Java and Android
    Manager(("SDKMAN_DIR",), (".sdkman",), exported="SDKMAN_DIR"),
    Manager(("JAVA_HOME",), exported="JAVA_HOME"),
    Manager(("MAVEN_HOME", "M2_HOME"), exported="MAVEN_HOME"),
    Manager(("GRADLE_HOME",), exported="GRADLE_HOME"),
    Manager(("ANDROID_HOME", "ANDROID_SDK_ROOT"), ("Android/Sdk",), exported="ANDROID_HOME"),
    # others
    Manager(("RBENV_ROOT",), (".rbenv",), exported="RBENV_ROOT"),
    Manager(("GOENV_ROOT",), (".goenv",), exported="GOENV_ROOT"),
    Manager(("NODENV_ROOT",), (".nodenv",), exported="NODENV_ROOT"),
    Manager(
        ("DOTNET_ROOT",),
        (".dotnet",),
        ("dotnet", "host", "sdk", "shared", "packs", "tools"),
        exported="DOTNET_ROOT",
    ),
    Manager(("COMPOSER_HOME",), (".config/composer", ".composer"), ("vendor",)),
    Manager(("FLUTTER_ROOT", "FLUTTER_HOME"), ("flutter", "development/flutter")),
    Manager(("GHCUP_INSTALL_BASE_PREFIX",), (".ghcup",), ("bin", "ghc", "hls")),
    # all languages
    Manager(("ASDF_DATA_DIR",), (".asdf",), exported="ASDF_DATA_DIR", programs=("asdf",)),
    Manager(("ASDF_DIR",), (".asdf",), exported="ASDF_DIR"),
    Manager(
        ("MISE_DATA_DIR",), (".local/share/mise",), exported="MISE_DATA_DIR", programs=("mise",)
    ),
    Manager(
        ("HOMEBREW_PREFIX",),
        ("/home/linuxbrew/.linuxbrew", ".linuxbrew", "/opt/homebrew"),
        exported="HOMEBREW_PREFIX",
    ),
    Manager((), ("/nix/store",), is_public=True),
)

FOLDER_VARIABLES = (
    *("NVM_BIN", "NVM_INC", "CONDA_PREFIX", "CONDA_EXE", "CONDA_PYTHON_EXE", "MAMBA_EXE"),
    *(
        "SDKMAN_CANDIDATES_DIR",
        "ANDROID_SDK_ROOT",
        "ANDROID_NDK_HOME",
        "ANDROID_NDK_ROOT",
        "M2_HOME",
    ),
    *("HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY", "FLUTTER_ROOT", "JDK_HOME", "KOTLIN_HOME"),
    *("SCALA_HOME", "GROOVY_HOME", "ANT_HOME", "CUDA_HOME", "CUDA_PATH", "NODE_HOME"),
)
"""Variables that go along where what they name is shown."""
_VERSION = re.compile(r"[A-Za-z0-9][\w.+:-]{0,63}")
_VERSION_VARIABLES = (
    *("RUSTUP_TOOLCHAIN", "PYENV_VERSION", "RBENV_VERSION", "NODENV_VERSION", "GOENV_VERSION"),
    *("GOTOOLCHAIN", "CONDA_DEFAULT_ENV"),
)

VARIABLES = frozenset(
    {
        "PATH",
        *(name for manager in MANAGERS for name in (*manager.variables, manager.exported) if name),
        *FOLDER_VARIABLES,
        *_VERSION_VARIABLES,
    }
)
"""All variables that are ever looked at."""

VERSION_FILES = (".tool-versions", ".config/mise/config.toml")
"""Files in the home that say which versions asdf and mise take."""


def versions(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables of *environment* that name a version, and nothing else."""
    return {
        name: environment[name]
        for name in _VERSION_VARIABLES
        if _VERSION.fullmatch(environment.get(name, ""))
    }
