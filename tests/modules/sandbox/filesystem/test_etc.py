"""The /etc of programs: what they need to start, and nothing that lets anybody in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from modules.sandbox.filesystem.etc import PreparedEtc, mounted_folders


def test_maven_of_debian_starts_and_none_of_its_passwords_is_there(tmp_path: Path) -> None:
    maven = tmp_path / "etc" / "maven"
    (maven / "logging").mkdir(parents=True)
    for name in ("m2.conf", "settings.xml", "logging/simplelogger.properties"):
        (maven / name).write_text(name)
        (maven / name).chmod(0o644)  # whatever the umask is: only what all may read is shown
    for folder in (maven, maven / "logging"):
        folder.chmod(0o755)
    folder = PreparedEtc(tmp_path / "cache", Path("/home/x"), tmp_path / "etc").folder()
    shown = {path.relative_to(folder).as_posix() for path in (folder / "maven").rglob("*")}
    assert shown == {"maven/m2.conf", "maven/logging", "maven/logging/simplelogger.properties"}
    script = f'. {folder}/mavenrc; echo "$*:$MAVEN_ARGS:$MAVEN_OPTS"'
    told = subprocess.run(
        ["/bin/sh", "-c", script, "mvn", "test"],
        env={"MAVEN_ARGS": "--offline", "MAVEN_OPTS": "-Da=b"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "--offline test::-XX:TieredStopAtLevel=1 -Da=b\n"


def test_the_extensions_of_php_are_there_and_its_settings_are_not(tmp_path: Path) -> None:
    php = tmp_path / "etc" / "php" / "8.2"
    for name in ("cli/conf.d/20-phar.ini", "mods-available/phar.ini", "cli/php.ini"):
        (php / name).parent.mkdir(parents=True, exist_ok=True)
        (php / name).write_text(name)
        (php / name).chmod(0o644)
    for folder in (php / "cli/conf.d", php / "mods-available"):
        folder.chmod(0o755)
    folder = PreparedEtc(tmp_path / "cache", Path("/home/x"), tmp_path / "etc").folder()
    shown = {path.relative_to(folder / "php/8.2") for path in (folder / "php").rglob("*.ini")}
    assert shown == {Path("cli/conf.d/20-phar.ini"), Path("mods-available/phar.ini")}


def test_what_is_large_is_mounted_and_not_copied(tmp_path: Path) -> None:
    registry = tmp_path / "etc" / "libreoffice" / "registry"
    registry.mkdir(parents=True)
    (registry / "main.xcd").write_text("large")
    prepared = PreparedEtc(tmp_path / "cache", Path("/home/x"), tmp_path / "etc")
    folder = prepared.folder()
    assert list((folder / "libreoffice").iterdir()) == []
    assert list(mounted_folders(folder)) == [Path("/etc/libreoffice")]
    shutil.rmtree(registry.parent)
    assert list(mounted_folders(prepared.folder())) == []
