"""Makes the terminal of a helper: like its session's, with features and a history of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.conversation.messages import User
from core.feature import Feature, Section
from core.hooks import LimitsSpending, OffersTools, ProvidesContext
from core.loop.approval import ApprovalMode, stricter
from core.main_terminal import MainTerminal
from core.model_choice import is_served
from core.tool_aliases import names_meant
from core.tools import Tool
from modules.delegation.helper_approval import HelperApproval
from utils.i18n import Phrase, Text, phrase
from utils.llm.completion import Usage
from utils.llm.prices import plain_sum
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.delegation.helper_store import HelperStore
    from modules.delegation.roles import Role

_WORDS = (
    "You are a helper: another agent, which works on a larger task in this project, gave you the "
    "task below. Do just that and end with your answer; all that is read of you is that answer, so "
    "put into it what was found, with paths and lines, and what you are not sure of. You have no "
    "helpers of your own."
)


@dataclass(frozen=True)
class Limits:
    """What a helper may use: *steps* model calls (0: no limit), *dollars* (0: no limit)."""

    steps: int
    dollars: float


class HelperStop(Stop):
    """The stop of a helper: set with that of its *parent*, and never cleared before that one is."""

    def __init__(self, parent: Stop) -> None:
        super().__init__()
        self._parent = parent

    def is_set(self) -> bool:
        return self._parent.is_set() or super().is_set()


class HelperRole(Feature, ProvidesContext, LimitsSpending):
    """Tells the model in *words* that it is a helper; holds it to *limits*, and its parent's."""

    def __init__(self, parent: MainTerminal, limits: Limits, words: str) -> None:
        self._parent = parent
        self._limits = limits
        self._words = words
        self.spent = 0.0

    def context(self) -> Iterable[Section]:
        return [Section("helper", self._words)]

    def on_spent(self, usage: Usage) -> None:
        self.spent += usage.cost_usd

    def spending_refusal(self) -> Phrase | None:
        if self._limits.dollars and self.spent >= self._limits.dollars:
            dollars = plain_sum(self._limits.dollars)
            return phrase("The helper's budget of ${budget} is used up.", budget=dollars)
        return self._parent.over_budget_reason()

    def cost_rows(self) -> Iterable[tuple[Phrase, Text]]:
        return ()

    def spending_notice(self) -> None:
        return None

    def spending_delay(self) -> tuple[Phrase, float] | None:
        return self._parent.features.costs.delay()


class BorrowedTools(Feature, OffersTools):
    """The tools of the parent that come from elsewhere: the same, by the same connections."""

    def __init__(self, parent: MainTerminal) -> None:
        self._parent = parent

    def listed_tools(self) -> tuple[Tool, ...]:
        sources = self._parent.features.tool_sources
        return tuple(tool for source in sources for tool in source.listed_tools())

    def find_tool(self, name: str) -> Tool | None:
        found = (source.find_tool(name) for source in self._parent.features.tool_sources)
        return next(filter(None, found), None)


MakeFeatures = Callable[[Stop], Sequence[Feature]]
"""Makes the features of a helper that ends with the stop."""


def helper_terminal(
    parent: MainTerminal,
    make_features: MakeFeatures,
    store: HelperStore,
    limits: Limits,
    *,
    mode: ApprovalMode,
    model: str = "",
    role: Role | None = None,
) -> MainTerminal:
    """Return the terminal of a helper of *parent*, which keeps its records in *store*.

    It begins where it was left, if it was. It asks the same model, unless another *model* is named,
    with the same instructions and the same tools, byte for byte: the *role* is told behind them. Of
    a role whose model is not served all but that holds.
    """
    stop = HelperStop(parent.stop)
    held = HelperRole(parent, limits, f"{_WORDS}\n\n{role.text}" if role else _WORDS)
    client = parent.model.for_other_conversation()
    if model:
        client.model = model
    if role and role.model not in ("", "inherit") and is_served(client, role.model):
        client.model = role.model
    terminal = MainTerminal(
        model=client,
        feature_list=[
            *make_features(stop),
            BorrowedTools(parent),
            held,
        ],
        store=store,
        project=parent.project,
        system_prompt=parent.system_prompt,
        list_paths=parent.list_paths,
        mode=parent.mode,
        approval_mode=mode,
        step_limit=limits.steps,
        context_limit=parent.context_limit,
        is_practice=parent.is_practice,
        stop=stop,
        today=parent.today,
        summary_prompt=parent.summary_prompt,
    )
    if any(isinstance(record, User) for _, record in store.load("")):
        terminal.resume()
        held.on_spent(terminal.usage)  # what it has used before
    own_reason = terminal.features.approval_reason
    terminal.approval = HelperApproval(
        parent.approval, stricter(mode, parent.approval.mode), own_reason, _only_tools(parent, role)
    )
    return terminal


def _only_tools(parent: MainTerminal, role: Role | None) -> frozenset[str] | None:
    """Return the tools that *role* leaves, by whatever names it knows them; None for all."""
    if role is None or not role.tools or "*" in role.tools:
        return None
    return frozenset(name for said in role.tools for name in names_meant(parent.tools, said))
