"""Onefold as an agent of Harbor: `harbor run --agent onefold_harbor.agent:OnefoldAgent …`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from harbor.agents.agent_auth_resolution import (
    ModelConnectionSpec,
    require_api_key_for_default_endpoint,
)
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template
from harbor.agents.options import Env, InstalledAgentOptions
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.model_api_format import ModelApiFormat
from harbor.models.trajectories import Trajectory
from pydantic import Field

from .atif import read_events, to_trajectory
from .shell import SESSION, STREAM, VERSION_COMMAND, install_command, run_command


class OnefoldOptions(InstalledAgentOptions):
    """What `--agent-kwarg NAME=VALUE` may say."""

    source: str = Field(
        description="What to install: a wheel on this machine, or what uv and pip call so, "
        "such as onefold==0.1.0 or git+https://…",
    )
    thinking: Literal["think", "fast"] | None = Field(
        default=None, description="--think or --fast; the settings of Onefold unless said."
    )
    step_limit: Annotated[int, Env("ONEFOLD_STEP_LIMIT")] = Field(
        default=0, ge=0, description="Model calls; 0: only the time of the task counts."
    )
    budget_usd: Annotated[float | None, Env("ONEFOLD_BUDGET_USD")] = Field(
        default=None, description="What a task may cost, in dollars."
    )


class OnefoldAgent(BaseInstalledAgent):
    """Installs Onefold in the environment and has it do the task with `-p --machine`."""

    capabilities = AgentCapabilities(atif=True, base_url=True)
    options_model = OnefoldOptions
    options: OnefoldOptions

    MODEL_CONNECTION = ModelConnectionSpec(
        default_provider="deepseek",
        supported_api_formats=[ModelApiFormat.OPENAI_CHAT_COMPLETIONS],
        default_api_format_by_provider={"default": ModelApiFormat.OPENAI_CHAT_COMPLETIONS},
        api_key_destination_names={"default": "DEEPSEEK_API_KEY"},
        base_url_destination_names={"default": "DEEPSEEK_BASE_URL"},
    )

    @staticmethod
    def name() -> str:
        return "onefold"

    @classmethod
    def check_model_credentials(
        cls,
        connection: Any,
        *,
        kwargs: Any,  # noqa: ARG003 - Harbor's
        env: Any,  # noqa: ARG003
        explicit_env: Any = None,  # noqa: ARG003
    ) -> None:
        require_api_key_for_default_endpoint(connection, cls.name())

    def get_version_command(self) -> str:
        return VERSION_COMMAND

    def parse_version(self, stdout: str) -> str:
        return stdout.strip().splitlines()[-1].removeprefix("Onefold ")

    async def install(self, environment: BaseEnvironment) -> None:
        source, here = self.options.source, Path(self.options.source).expanduser()
        if here.is_file():
            source = f"/installed-agent/{here.name}"
            await environment.upload_file(here, source)
        await self.exec_as_agent(environment, install_command(source))

    @with_prompt_template
    async def run(
        self,
        instruction: str,
        environment: BaseEnvironment,
        context: AgentContext,  # noqa: ARG002 - filled when the logs are here
    ) -> None:
        command = run_command(instruction, self.environment_logs_dir, self._run_options())
        variables = {**self.resolve_env_vars(), **self.model_connection.env}
        await self.exec_as_agent(environment, command, env=variables)

    def convert_trajectory(self, logs_dir: Path) -> Trajectory | None:
        """Return what the logs in *logs_dir* tell, or None when there was no run."""
        stream, exported = logs_dir / STREAM, logs_dir / SESSION
        if not stream.is_file():
            return None
        trajectory = to_trajectory(
            read_events(stream.read_text(encoding="utf-8", errors="replace")),
            version=self.version() or "unknown",
            model=self.model_name,
            session=json.loads(exported.read_text("utf-8")) if exported.is_file() else None,
        )
        return Trajectory.model_validate(trajectory) if trajectory else None

    def populate_context_post_run(self, context: AgentContext) -> None:
        trajectory = self.convert_trajectory(self.logs_dir)
        if trajectory is None:
            return
        text = json.dumps(trajectory.to_json_dict(), ensure_ascii=False, indent=1)
        (self.logs_dir / "trajectory.json").write_text(f"{text}\n", encoding="utf-8")
        total = trajectory.final_metrics
        context.n_input_tokens = total.total_prompt_tokens
        context.n_cache_tokens = total.total_cached_tokens
        context.n_output_tokens = total.total_completion_tokens
        context.cost_usd = total.total_cost_usd

    def _run_options(self) -> list[str]:
        options = ["--model", self.model_name] if self.model_name else []
        return [*options, f"--{self.options.thinking}"] if self.options.thinking else options
