"""Variables that have programs keep what they keep in their home.

Only for those whose default is not below `HOME`.
"""

from __future__ import annotations

from pathlib import Path

HOME_IN_SANDBOX = Path("/run/home")
"""The home where there are mounts: no path of the person's can be below it, or above."""
_GEMS = ".local/share/gem"
WAITING_HOME = "/nonexistent"
"""The home of a Python that waits for its call: nothing that a program wrote is run in it."""


def home_variables(home: Path) -> dict[str, str]:
    """Return the variables for programs whose home is *home*."""
    variables = {
        "HOME": str(home),
        "UV_LINK_MODE": "copy",  # its cache is on another mount than the project
        "GEM_HOME": str(home / _GEMS),  # the system's own folder cannot be written to
    }
    if home == HOME_IN_SANDBOX:
        return variables
    # Java goes by the home in /etc/passwd, which is the person's own where there are no mounts.
    variables["GRADLE_USER_HOME"] = str(home / ".gradle")
    if not any(map(str.isspace, str(home))):  # mvn takes it apart at spaces
        variables["MAVEN_OPTS"] = f"-Duser.home={home}"
    return variables


def own_programs(home: Path) -> tuple[str, str]:
    """Return where programs install commands for themselves: last in `PATH`, to hide nothing."""
    return str(home / _GEMS / "bin"), str(home / ".local" / "bin")
