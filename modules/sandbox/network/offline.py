"""Runs that fail for what the sandbox has not: the network, or a system to install into."""

from __future__ import annotations

import re

_LOOK_UP_FAILED = re.compile(
    r"""
    temporary\ failure\ (?:in\ name\ resolution|resolving) | name\ or\ service\ not\ known
    | nodename\ nor\ servname | (?:could\ not|failed\ to|unable\ to)\ resolve\ (?:host|proxy)
    | could\ not\ resolve\ '[^']*' | failed\ to\ lookup\ address | \b(?:ENOTFOUND|EAI_AGAIN)\b
    | unknown\ ?host | \bno\ such\ host\b | network\ is\ (?:unreachable|down)
    | address\ family\ not\ supported | getaddrinfo\ failed | unable\ to\ resolve\ host\ address
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words of the system and of programs for a name that nobody could look up."""

_REFUSED_BY_SWITCH = re.compile(
    r"""
    no\ matching\ distribution\ found\ for | (?:in|using)\ offline\ mode
    | available\ for\ offline\ mode | network\ connectivity\ is\ disabled
    | because\ the\ network\ was\ disabled | --offline`?\ (?:was|flag)
    | could\ not\ (?:be\ found\ in\ registry\ index|find\ `[^`]*`\ in\ registry\ `)
    | \bENOTCACHED\b
    | \bERR_PNPM_NO_OFFLINE_ | \bin[\s│]+package\ mirror\ "
    | \bYN0080\b | has\ been\ blocked\ because\ of\ your\ configuration
    | network\ access\ disabled | lookup\ disabled\ by\ GOPROXY=off | network\ disabled,\ request
    | \bOfflineError\b | could\ not\ reach\ host | unable\ to\ download\ data\ from
    | trouble\ with\ your\ network\ connection | all\ attempts\ to\ connect\ to
    | no\ plugin\ found\ for\ prefix | attempted\ to\ set\ connect\ timeout\ to\ 0\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words of package managers that obey their switches (see `variables`), or that give up."""

_SYSTEM_PACKAGES = re.compile(
    r"""
    /var/lib/apt/lists/partial | /var/lib/dpkg/(?:lock|status) | dpkg\ frontend\ lock
    | ^E:\ Unable\ to\ locate\ package
    | (?:dnf|yum|apk|pacman)\b[^\n]*\b(?:root|superuser|permission\ denied|privileges)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""Words of the managers of the system's own packages, which cannot write where they would."""


def installs_in_system(output: str) -> bool:
    """Return whether *output* of a program that failed is of one that installs into the system."""
    return bool(_SYSTEM_PACKAGES.search(output))


def is_refused_offline(output: str) -> bool:
    """Return whether *output* of a program that failed is of a package manager without network."""
    return bool(_REFUSED_BY_SWITCH.search(output))


def lacks_network(output: str) -> bool:
    """Return whether *output* of a program that failed looks as if it failed for want of network.

    A local server that does not answer is no such thing.
    """
    return bool(_LOOK_UP_FAILED.search(output) or _REFUSED_BY_SWITCH.search(output))
