"""The line below the prompt: what holds right now."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_width

from core.commands import MODE_LABELS
from core.loop.approval import ApprovalMode
from core.loop.depth import Depth
from core.loop.thinking import Mode
from core.main_terminal import MainTerminal
from modules.depth.feature import DEPTH_LABELS, TaskDepth
from modules.jobs.feature import Jobs
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import visible

FIXED_PARTS = 2
"""Parts of the line that are never left out: the indent and the model."""
_MODE_STYLES = {"guarded": "", "all": "class:bottom-toolbar.warning"}
_MODE_STYLE = "class:bottom-toolbar.mode"


def status_line_of(terminal: MainTerminal, translator: Translator) -> StyleAndTextTuples:
    """Return the line for *terminal*."""
    return status_line(
        translator,
        model=terminal.model.model,
        is_practice=terminal.is_practice,
        mode=terminal.mode,
        project=terminal.project,
        approval=terminal.approval.mode,
        context=terminal.context_used,
        cost=terminal.usage.cost_usd,
        jobs=jobs.running_count() if (jobs := terminal.features.find(Jobs)) else "",
        depth=depth.last_depth if (depth := terminal.features.find(TaskDepth)) else None,
    )


def status_line(
    translator: Translator,
    *,
    model: str,
    is_practice: bool,
    mode: Mode,
    project: str,
    approval: ApprovalMode,
    context: tuple[int, int],
    cost: float,
    jobs: Text = "",
    depth: Depth | None = None,
) -> StyleAndTextTuples:
    """Return the line, a part for each fact; what matters most comes first: see `fitting`.

    *context* is how many tokens are used, and the limit; *cost* is in dollars; *jobs* says what
    runs in the background; *depth* is that of the last task.
    """
    used, limit = context
    approval_name = translator.render(MODE_LABELS[approval])
    facts = [
        *([translator.render(jobs)] if jobs else []),
        translator.render(phrase("thinks once") if mode == "think" else phrase("fast")),
        *([translator.render(DEPTH_LABELS[depth])] if depth not in (None, "standard") else []),
        visible(project),
        approval_name,
        translator.render(phrase("context {percent} %", percent=round(100 * used / limit))),
        f"${cost:.4f}",
    ]
    style = "class:bottom-toolbar.warning" if is_practice else ""
    name = translator.render(phrase("practice model, no AI")) if is_practice else visible(model)
    mode_style = {approval_name: _MODE_STYLES.get(approval, _MODE_STYLE)}
    return [
        ("", "  "),
        (style, name),
        *((mode_style.get(fact, ""), f" · {fact}") for fact in facts),
    ]


def fitting(line: StyleAndTextTuples, width: int) -> StyleAndTextTuples:
    """Return as much of *line* as fits in *width* cells, without the facts at its end that do not.

    The first of them, the model, is always there; so is a mode that is not the usual one.
    """
    parts = list(line)
    while fragment_list_width(parts) > width:
        facts = [n for n, part in enumerate(parts) if n >= FIXED_PARTS and not part[0]]
        if not facts:
            break
        del parts[facts[-1]]
    return parts
