"""VCP: calls as text blocks, for models and servers without function calling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from utils.llm.calls.call_context import is_shown
from utils.llm.calls.text_call_values import TextCall, is_quoted
from utils.llm.calls.vcp_block import (
    END_REQUEST,
    NAME_KEY,
    REQUEST,
    Block,
)
from utils.llm.calls.vcp_text import Scan, scan
from utils.llm.completion import Wire
from utils.llm.protocols.call_protocol import ParsedReply
from utils.llm.protocols.declarations import (
    Schema,
    example_value,
    parameters_of,
    placeholder,
    required_of,
    type_text,
    write_value,
)
from utils.llm.protocols.vcp_calls import call_of, render_call
from utils.llm.protocols.vcp_messages import to_text_messages

_INTRODUCTION = f"""\
# Tools

You act by calling tools. A call is a block of text in your reply, in exactly this form:

{REQUEST}
{NAME_KEY}:「始」name of the tool「末」,
parameter:「始」value「末」
{END_REQUEST}

- Write the block as it is: no code fence, no quotation marks and no list item around it. What \
stands in a code fence or a quotation is text and is not run.
- Texts go between 「始」 and 「末」 to the letter, line breaks included, nothing escaped; \
numbers, true and false as they are; lists and objects as JSON. Leave out parameters that you do \
not need.
- A value that itself holds 「始」, 「末」 or a marker of a block goes between 「始ESCAPE」 and \
「末ESCAPE」.
- Several blocks in one reply run one after the other. End your reply with the last one: the \
answers come in the next message, as <<<[TOOL_RESULT]>>> blocks. Never write these yourself.
- A block that is not whole is not run.

These are the tools:"""
_EXAMPLE_VALUES = re.compile(r"\.{3}|…+|(?:\.?/)?path/to/.*", re.DOTALL)


class Vcp:
    """The protocol of that name; see `CallProtocol`."""

    name = "vcp"

    def definitions(self, tools: Sequence[Wire]) -> str:
        if not tools:
            return ""
        return "\n\n".join([_INTRODUCTION, *(self._definition(tool) for tool in tools)])

    def _definition(self, tool: Wire) -> str:
        function = tool["function"]
        name = function["name"]
        parameters, required = parameters_of([tool])[name], required_of(tool)
        lines = [_parameter(key, one, key in required) for key, one in parameters.items()]
        values = {key: example_value(key, parameters.get(key, {})) for key in required}
        return "\n".join(
            [
                "<<<[TOOL_DEFINITION]>>>",
                f"{NAME_KEY}: 「始」{name}「末」",
                f"description: 「始」{function.get('description', '')}「末」",
                *(["parameters: 「始」", *lines, "「末」"] if lines else []),
                f"example: 「始」\n{self.render(name, values, [tool])}\n「末」",
                "<<<[END_TOOL_DEFINITION]>>>",
            ]
        )

    def render(self, name: str, arguments: Mapping[str, Any], tools: Sequence[Wire]) -> str:
        """Return the block of a call; a value of None is as good as none and left out."""
        schemas = parameters_of(tools).get(name, {})
        return render_call(name, arguments, schemas)

    def parse(self, text: str, tools: Sequence[Wire], sources: Iterable[str] = ()) -> ParsedReply:
        found = scan(text)
        if not found.blocks:
            return ParsedReply(text, is_doubtful=found.is_damaged)
        schemas = parameters_of(tools)
        calls = tuple(call_of(one.block, schemas.get(one.block.name)) for one in found.blocks)
        if _is_shown(found):
            return ParsedReply(text, is_doubtful=True)
        blocks = [one.block for one in found.blocks]
        read = (source for source in sources if REQUEST in source)
        texts = [TextCall(block.name, block.arguments) for block in blocks]
        if any(map(_is_example, blocks)) or is_quoted(texts, read):
            return ParsedReply(text, is_doubtful=True)
        parts = filter(None, (part.strip() for part in found.texts))
        return ParsedReply("\n\n".join(parts), calls)

    def request(
        self, messages: Sequence[Wire], tools: Sequence[Wire]
    ) -> tuple[Sequence[Wire], Sequence[Wire]]:
        return to_text_messages(messages, self.definitions(tools), parameters_of(tools)), ()


def _parameter(name: str, schema: Schema, is_required: bool) -> str:
    """Return the line that describes one parameter."""
    notes = [type_text(schema), *(["required"] if is_required else [])]
    if "default" in schema:
        notes.append(f"default {write_value({}, schema['default'])}")
    description = schema.get("description", "")
    return f"  - {name} ({', '.join(notes)})" + (f": {description}" if description else "")


def _is_shown(found: Scan) -> bool:
    """Return whether the words around one of the blocks show them as a text."""
    return any(_shows(before, after) for before, after in _surroundings(found))


def _surroundings(found: Scan) -> Iterator[tuple[str, str]]:
    """Yield what stands before and behind each block; of two without words between them, once."""
    for number in range(len(found.blocks)):
        before, after = found.texts[number], found.texts[number + 1]
        if number == 0 or before.strip() or after.strip():
            yield before, after if number == len(found.blocks) - 1 else ""


def _shows(before: str, after: str) -> bool:
    said = before.rstrip()
    return is_shown(said, before[len(said) :], after.strip())


def _is_example(block: Block) -> bool:
    """Return whether *block* is that of a definition, or holds what only an example does."""
    return any(
        value == placeholder(key) or _EXAMPLE_VALUES.fullmatch(value)
        for key, value in block.arguments.items()
    )
