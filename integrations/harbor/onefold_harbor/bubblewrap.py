"""An environment of Harbor on this machine, where there is no Docker.

`harbor run --env onefold_harbor.bubblewrap:BubblewrapEnvironment …`. It follows simple Dockerfiles:
FROM is this machine, and what RUN would install into `/usr` has to be there already.
"""

from __future__ import annotations

from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.models.trial.paths import EnvironmentPaths

from .container import Container
from .dockerfile import Recipe, Unsupported, parse


class BubblewrapEnvironment(BaseEnvironment):
    """One `Container` for each trial. It keeps no limit of memory or processors."""

    _recipe: Recipe
    _container: Container

    @staticmethod
    def type() -> str:
        return "bubblewrap"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self) -> None:
        if self._host_mounts:
            raise Unsupported("Folders of this machine cannot be mounted by bubblewrap here.")
        text = (self.environment_dir / "Dockerfile").read_text(encoding="utf-8")
        self._recipe = parse(text)

    async def start(self, force_build: bool) -> None:  # noqa: ARG002 - it is built each time
        self._container = Container(has_network=not self._network_disabled)
        await self._container.start()
        await self._container.build(self._recipe, self.environment_dir)
        paths = EnvironmentPaths()
        await self.ensure_dirs([paths.agent_dir, paths.verifier_dir, paths.artifacts_dir])

    async def stop(self, delete: bool) -> None:
        await self._container.stop(delete=delete)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await self._container.put_file(Path(source_path), str(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await self._container.put_folder(Path(source_dir), str(target_dir))

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._container.take_file(str(source_path), Path(target_path))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self._container.take_folder(str(source_dir), Path(target_dir))

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        if self._resolve_user(user) not in (None, "root", 0, "0"):
            raise Unsupported(f"There is only root in this environment, and no {user!r}.")
        try:
            ended = await self._container.execute(
                ["bash", "-c", command],
                folder=cwd or self.task_env_config.workdir,
                more=self._merge_env(env),
                seconds=timeout_sec,
            )
        except TimeoutError:
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds") from None
        return ExecResult(stdout=ended.output, stderr=ended.errors, return_code=ended.code)
