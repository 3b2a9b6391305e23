"""Start of a server's program, in the sandbox unless the person says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modules.mcp_client.config import ServerConfig
from modules.mcp_client.connection.program import shell_line
from modules.sandbox.types import NO_TIME_LIMIT, Limits, Network, Program, Result, TierName
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.sandbox.late_sandbox import LateSandbox
    from modules.sandbox.run.execution import Background

_ALL_OUTPUT = 1 << 62  # bytes; `ServerProgram` sees to floods


class Launcher:
    """Starts programs in *sandbox*, in the folder *root*, each within *limits* but that of time.

    What *network_hosts* returns may be reached by all that may reach the network. *environment* is
    the person's, for their package managers; *outside* returns that of what is not in the sandbox.
    """

    def __init__(
        self,
        sandbox: LateSandbox,
        root: Path,
        limits: Limits,
        network_hosts: Callable[[], Sequence[str]],
        environment: Mapping[str, str],
        outside: Callable[[], Mapping[str, str]],
    ) -> None:
        self._sandbox = sandbox
        self._root = root
        self._limits = replace(limits, seconds=NO_TIME_LIMIT, total_output=_ALL_OUTPUT)
        self._network_hosts = network_hosts
        self._environment = environment
        self._outside = outside

    def start(
        self, config: ServerConfig, background: Background, stop: Stop
    ) -> Generator[str, None, Result]:
        """Run the program of *config* until it ends or *stop* is set. Raises `UserError`."""
        line = shell_line(config.command, config.environment)
        program = Program("bash", line, reads_input=True, separate_errors=True)
        sandbox = self._sandbox.get()
        if not config.is_sandboxed:
            return sandbox.run_outside(program, self._limits, stop, self._outside(), background)
        return sandbox.run(program, self._limits, stop, self._network(config), background)

    def _network(self, config: ServerConfig) -> Network | None:
        """Return the way of *config* to the network, None where it has none or there is none."""
        has_way = self._sandbox.report().tier not in (TierName.LANDLOCK, TierName.SEATBELT)
        if not (config.has_network and has_way):
            return None
        from modules.sandbox.network.packages import package_network  # used by few

        hosts = tuple(dict.fromkeys((*config.hosts, *self._network_hosts())))
        return package_network(self._root, self._environment, hosts)
