"""Outputs of models with a call written in them, in every syntax: whole, damaged, and shown.

The syntaxes are those of the models' chat templates and cards; the words around them are such as
models write. Nothing here was made by the reader that is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["whole", "damaged", "shown"]


@dataclass(frozen=True)
class Output:
    kind: Kind
    syntax: str
    about: str
    text: str


PATH, CONTENT = "notes/todo.txt", 'Buy "milk"\nand bread\n'
ARGUMENTS = {"path": PATH, "content": CONTENT}
_J = json.dumps(ARGUMENTS)
_CALL = json.dumps({"name": "create_file", "arguments": ARGUMENTS})
_PARAMETERS = json.dumps({"name": "create_file", "parameters": ARGUMENTS})
_PY = f"create_file(path={PATH!r}, content={CONTENT!r})"
_TAGS = f"<parameter=path>\n{PATH}\n</parameter>\n<parameter=content>\n{CONTENT}</parameter>"

SYNTAXES: dict[str, str] = {
    "hermes": f"<tool_call>\n{_CALL}\n</tool_call>",
    "hermes on one line": f"<tool_call>{_CALL}</tool_call>",
    "qwen coder": f"<tool_call>\n<function=create_file>\n{_TAGS}\n</function>\n</tool_call>",
    "function tag": f"<function=create_file>{_J}</function>",
    "llama python tag": f"<|python_tag|>{_PARAMETERS}",
    "llama json": _PARAMETERS,
    "llama pythonic": f"[{_PY}]",
    "mistral": f"[TOOL_CALLS][{_CALL}]",
    "mistral small": f"[TOOL_CALLS]create_file[ARGS]{_J}",
    "deepseek": '<｜DSML｜ calls>\n<｜DSML｜ invoke name="create_file">\n'
    f'<｜DSML｜ parameter name="path" string="true">{PATH}</｜DSML｜ parameter>\n'
    f'<｜DSML｜ parameter name="content" string="true">{CONTENT}</｜DSML｜ parameter>\n'
    "</｜DSML｜ invoke>\n</｜DSML｜ calls>",
    "deepseek v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>create_file\n"
    f"```json\n{_J}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "function_call": f"<function_call>{_CALL}</function_call>",
    "function_calls": '<function_calls>\n<invoke name="create_file">\n'
    f'<parameter name="path">{PATH}</parameter>\n'
    f'<parameter name="content">{CONTENT}</parameter>\n</invoke>\n</function_calls>',
    "react": f"Action: create_file\nAction Input: {_J}",
    "fenced json": f"```json\n{_CALL}\n```",
    "fenced": f"```\n{_CALL}\n```",
    "tool_code": f"```tool_code\n{_PY}\n```",
    "tool_code printed": f"```tool_code\nprint({_PY})\n```",
    "command-r": 'Action: ```json\n[\n    {\n        "tool_name": "create_file",\n'
    '        "parameters": '
    f"{_J}\n    }}\n]\n```",
    "command-a": f'<|START_ACTION|>[\n    {{"tool_call_id": "0", "tool_name": "create_file", '
    f'"parameters": {_J}}}\n]<|END_ACTION|>',
    "granite": f"<|tool_call|>[{_CALL}]",
    "granite 3": f"<tool_call>[{_CALL}]</tool_call>",
    "phi": f"<|tool_call|>[{_CALL}]<|/tool_call|>",
    "functools": f"functools[{_CALL}]",
    "glm": f"<tool_call>create_file\n<arg_key>path</arg_key>\n<arg_value>{PATH}</arg_value>\n"
    f"<arg_key>content</arg_key>\n<arg_value>{CONTENT}</arg_value>\n</tool_call>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.create_file:0"
    f"<|tool_call_argument_begin|>{_J}<|tool_call_end|><|tool_calls_section_end|>",
    "minimax": f'<minimax:tool_call>\n<invoke name="create_file">\n<parameter name="path">{PATH}'
    f'</parameter>\n<parameter name="content">{CONTENT}</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "minimax m1": f"<tool_calls>\n{_CALL}\n</tool_calls>",
    "openai": json.dumps({"tool_calls": [{"type": "function", "function":
                                          {"name": "create_file", "arguments": _J}}]}),
    "harmony": "<|channel|>commentary to=functions.create_file <|constrain|>json<|message|>"
    f"{_J}<|call|>",
    "internlm": f"<|action_start|><|plugin|>\n{_PARAMETERS}<|action_end|>",
    "bare": _CALL,
    "tools tag": f"<tools>\n{_CALL}\n</tools>",
    "hermes, arguments first": "<tool_call>\n" + json.dumps(
        {"arguments": ARGUMENTS, "name": "create_file"}) + "\n</tool_call>",
    "hermes, a comma too much": f"<tool_call>\n{_CALL[:-2]},}}}}\n</tool_call>",
    "mistral, one with its end": f"[TOOL_CALLS] {_CALL}</s>",
    "llama tag, called": f"<|python_tag|>create_file.call(path={PATH!r}, "
    f"content={CONTENT!r})<|eom_id|>",
    "llama 4": f"<|python_start|>[{_PY}]<|python_end|>",
    "functionary 2": f"<|from|>assistant\n<|recipient|>create_file\n<|content|>{_J}<|stop|>",
    "functionary 3": f">>>create_file\n{_J}",
    "qwen coder, half a wrapper": f"<function=create_file>\n{_TAGS}\n</function>\n</tool_call>",
    "qwen agent": f"✿FUNCTION✿: create_file\n✿ARGS✿: {_J}",
    "glm 4": f"create_file\n{_J}",
    "gemma's own": f"```tool_code\nprint(default_api.{_PY})\n```",
    "react, fenced": f"Action: create_file\nAction Input:\n```json\n{_J}\n```",
    "react, in bold": f"**Action:** `create_file`\n**Action Input:** {_J}",
    "react, lines": f"Action: create_file\nAction Input: {json.dumps(ARGUMENTS, indent=2)}",
    "react, JSON": "Action:\n```\n" + json.dumps(
        {"action": "create_file", "action_input": ARGUMENTS}, indent=2) + "\n```",
    "tool and arguments": f"Tool: create_file\nArguments: {_J}",
    "command-r7b": f'<|START_ACTION|>[\n    {{"tool_call_id": "0", "tool_name": "create_file", '
    f'"parameters": {_J}}}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>',
    "deepseek v3, its end": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
    f"create_file\n```json\n{_J}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "deepseek v3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>create_file<｜tool▁sep｜>"
    f"{_J}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "harmony, analysis": "<|channel|>analysis to=functions.create_file <|constrain|>json"
    f"<|message|>{_J}<|call|>",
    "xlam": json.dumps({"thought": "A list.", "tool_calls": [
        {"name": "create_file", "arguments": ARGUMENTS}]}),
    "apertus": f'<|tools_prefix|>[{{"create_file": {_J}}}]<|tools_suffix|>',
    "olmo": f"<function_calls>\n{_PY}\n</function_calls>",
    "tool use, named": f"<tool_use>\n<tool_name>create_file</tool_name>\n<parameters>\n{_J}\n"
    "</parameters>\n</tool_use>",
    "tool tag": f'<tool name="create_file">\n{_J}\n</tool>',
    "tool call tag with children": f'<tool_call name="create_file">\n<path>{PATH}</path>\n'
    f"<content>{CONTENT}</content>\n</tool_call>",
    "openai message": json.dumps({"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function",
         "function": {"name": "create_file", "arguments": _J}}]}),
    "function args": json.dumps({"function_name": "create_file", "function_args": ARGUMENTS}),
    "agent zero": json.dumps({"thoughts": ["A list."], "tool_name": "create_file",
                              "tool_args": ARGUMENTS}),
    "name as key": json.dumps({"create_file": ARGUMENTS}),
    "comma too much": f"{_CALL[:-2]},}}}}",
    "heading": f"### create_file\n```json\n{_J}\n```",
    "name in bold": f"**create_file**\n\n```json\n{_J}\n```",
    "hermes, indented": "<tool_call>\n" + json.dumps(
        {"name": "create_file", "arguments": ARGUMENTS}, indent=4) + "\n</tool_call>",
    "qwen coder on one line": "<tool_call><function=create_file>"
    f"<parameter=path>{PATH}</parameter><parameter=content>{CONTENT}</parameter>"
    "</function></tool_call>",
    "glm 4.6": f"<tool_call>create_file<arg_key>path</arg_key><arg_value>{PATH}</arg_value>"
    f"<arg_key>content</arg_key><arg_value>{CONTENT}</arg_value></tool_call>",
    "react, up to the answer": f"Action: create_file\nAction Input: {_J}\nObservation:",
    "react, up to the answer in bold": f"**Action:** create_file\n**Action Input:** {_J}\n"
    "**Observation:**",
    "gemma, with a name": f"```tool_code\nresult = {_PY}\nprint(result)\n```",
    "gemini's tag": f"<tool_code>\nprint(default_api.{_PY})\n</tool_code>",
    "harmony, all of it": "<|channel|>analysis<|message|>I create it.<|end|><|start|>assistant"
    "<|channel|>commentary to=functions.create_file <|constrain|>json<|message|>"
    f"{_J}<|call|>",
    "mistral, with an id": '[TOOL_CALLS] [{"name": "create_file", "arguments": '
    f'{_J}, "id": "Ab3dE6gh9"}}]',
    "kimi, without a space": "<|tool_calls_section_begin|><|tool_call_begin|>create_file:12"
    f"<|tool_call_argument_begin|>{_J}<|tool_call_end|><|tool_calls_section_end|>",
}  # fmt: skip

LEADS = {
    "nothing": "",
    "will": "I'll create the file now.\n\n",
    "colon": "Let me write that file for you:\n\n",
    "status": "The folder is empty so far. I will add the list.\n\n",
    "understood": "Sure, I can do that! Creating notes/todo.txt with the two lines now.\n\n",
    "first": "First, I need to create the file `notes/todo.txt`.\n\n",
    "thought": "<think>\nThey want a list; create_file does it.\n</think>\n\n",
    "chinese": "好的，我来创建这个文件。\n\n",
    "wait": "好的，请稍等，我现在创建文件。\n\n",
    "can": "I can help with that!\n\n",
    "deed": "Creating file notes/todo.txt:\n\n",
    "tool": "Using the create_file tool:\n\n",
    "step": "Step 1: Create the file.\n\n",
    "needed": "I'll write it to the folder notes, creating that if needed.\n\n",
    "label": "Assistant: I'll create the file.\n\n",
    "goes": "Yes, I can create that file. Here it goes:\n\n",
    "based": "Based on the listing, the file does not exist yet. I'll create it.\n",
    "with": "As requested, I will create `notes/todo.txt` with the following content:\n\n",
    "calling": "I'll do this by calling `create_file`:\n\n",
    "user": "The user wants a todo list. I should use create_file to make it.\n\n",
    "remark": "Now I have everything I need. Writing the file.\n",
    "tool call": "I'll create the file.\n\nTool call:\n",
    "calling it": "Calling the tool:\n\n",
    "bold tool call": "**Tool Call:**\n\n",
    "action": "### Action\n\n",
    "example first": "For example, I will now create the first file.\n\n",
    "example test": "I'll run an example test, so I create it first.\n\n",
    "example file": "Let me start with the example file:\n\n",
    "example project": "I'll create an example config for the project.\n\n",
    "demonstration": "I will create an example.py that demonstrates the bug.\n\n",
    "docs": "I'll add an example to the README, e.g. for the CLI.\n\n",
    "defect": "The function does not call close. I'll fix it now.\n\n",
    "chinese example": "我来创建示例文件。\n\n",
    "chinese pattern": "我会参照示例的格式来写新文件。\n\n",
    "chinese syntax": "我来修复语法错误。\n\n",
    "thought line": "Thought: The person wants a list. I should create the file.\n",
    "answer": "To answer this I have to create the file first.\n\n",
    "apology": "I apologize for the confusion. Let me try again with the correct path.\n\n",
    "again": "The previous command failed because the file does not exist. I'll create it.\n\n",
    "plan": "**Plan**\n\n1. Look\n2. Create the file\n\nLet me start with step 2.\n\n",
    "praise": "Great question! The list is missing. Let me fix it.\n\n",
    "paragraphs": "There are two folders. The first is for notes.\n\nThe list is missing there."
    "\n\nI'll add it now.\n\n",
    "chinese, seen": "明白了，我马上修复这个问题。\n\n",
}
"""What models say before they call."""

SHOWN = {
    "example": "A call of the tool looks like this, for example:\n\n{}",
    "explained": "In this format the model answers:\n\n{}\n\nThe runtime reads it then.",
    "asked": "Should I create it? I would call:\n\n{}",
    "refused": "I will not do that. You could run this yourself:\n\n{}",
    "quoted": 'The log says that the assistant wrote "{}" and then stopped.',
    "not": "Do not write such a thing into your reply:\n\n{}\n\nit would be run.",
    "in a list": "The syntaxes are:\n\n- {}\n- and others",
    "in a log": "The log shows:\n\nI'll create the file now.\n\n{}",
    "labelled in a text": "The server sent this back:\n\nTool call:\n{}",
    "labelled in a list": "1. Tool call:\n{}\n2. The answer of it",
    "labelled in a document": "# Protocol\n\nTool call:\n\n{}",
    "asked behind": "Tool call:\n{}\n\nShall I run it?",
    "in code": "````\nTool call:\n{}\n````",
    "example behind a deed": "Let me write an example call:\n\n{}",
    "taken": "Let's take this example:\n\n{}",
    "given": "I'll give you an example of how I would create it:\n\n{}",
    "made up": "I'll create an example:\n\n{}",
    "example of models": "Models write calls as text. For example, I'll create the file:\n\n{}",
    "chinese, given": "我给你写个例子看看：\n\n{}",
    "chinese, raised": "我来举个例子：\n\n{}",
    "chinese, form": "我来写一下调用的格式：\n\n{}",
    "documented": "# Tool calls\n\nThe following shows the syntax of a call.\n\n{}",
    "in a file": "The file contains:\n\n```\n{}\n```\n\nIt is a transcript.",
    "in a fixture": "The fixture `calls.txt` has this line:\n\n{}\n\nand the parser reads it.",
    "in a quotation": "In the docs it says:\n\n> {}",
    "in a table": "| form | text |\n|---|---|\n| one | {} |",
    "in a tag": "<example>\n{}\n</example>",
    "in markdown": "The syntax of Hermes:\n\n````markdown\n{}\n````\n",
    "in a talk": "User: make it\nAssistant: {}\nUser: thanks",
    "how to": "To use the tool, write something like this:\n\n{}\n\nThen wait for the result.",
    "of old": "Earlier I ran:\n\n{}\n\nand it worked.",
    "not called": "I did not call anything. Had I done so, it would have been:\n\n{}",
    "never": "Never output this:\n\n{}",
    "wanted": "Do you want me to run this?\n\n{}",
    "steps": "1. First you write\n\n   {}\n\n2. Then the runtime answers.",
    "chinese, asked": "如何调用工具？例如：\n\n{}\n\n这就是格式。",
    "chinese, in a log": "日志里写着：\n\n{}",
}


def corpus() -> Iterator[Output]:
    """Yield all outputs; none twice."""
    for syntax, call in SYNTAXES.items():
        for lead, words in LEADS.items():
            yield Output("whole", syntax, lead, words + call)
        for damage, text in _damaged(call).items():
            for lead in ("nothing", "will"):
                yield Output("damaged", syntax, f"{damage}, {lead}", LEADS[lead] + text)
        for shown, words in SHOWN.items():
            yield Output("shown", syntax, shown, words.format(call))


def _damaged(call: str) -> dict[str, str]:
    """Return *call* with damage that leaves its arguments, or that it is whole, in doubt."""
    inside, bracket = call.index("bread"), call.rfind("}")
    damaged = {
        "cut in the content": call[:inside],
        "cut in the name": call[: call.index("create_file") + 6],
        "another tool": call.replace("create_file", "launch_rocket"),
        "misspelt tool": call.replace("create_file", "creat_fil"),
        "placeholder": call.replace(PATH, "<path>"),
        "no path": call.replace("path", "wath"),
        "whole, then cut": f"{call}\n{call[:inside]}",
    }
    if bracket > 0:
        damaged["bracket missing"] = call[:bracket] + call[bracket + 1 :]
        damaged["first bracket missing"] = call.replace("{", "", 1)
    if '"create_file"' in call:
        damaged["quote missing"] = call.replace('"create_file"', 'create_file"')
        damaged["typographic quotes"] = call.replace('"', "”")
    return damaged
