"""Calls as models write them in text: every syntax, from a name and arguments to the letter.

The forms are those of the chat templates that models are published with, and those that models
without one improvise. Each takes the name of a tool and its arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Arguments = Mapping[str, Any]
Form = Callable[[str, Arguments], str]


def plain(value: Any) -> str:
    """Return *value* as the text between two tags."""
    return value if isinstance(value, str) else json.dumps(value)


def arguments_json(arguments: Arguments, **more: Any) -> str:
    return json.dumps(dict(arguments), ensure_ascii=False, **more)


def call_json(name: str, arguments: Arguments, key: str = "arguments", called: str = "name") -> str:
    return json.dumps({called: name, key: dict(arguments)}, ensure_ascii=False)


def tags(arguments: Arguments, form: str) -> str:
    return "".join(form.format(key=key, value=plain(value)) for key, value in arguments.items())


def keywords(arguments: Arguments) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


def function(name: str, arguments: Arguments) -> str:
    inner = tags(arguments, "<parameter={key}>\n{value}\n</parameter>\n")
    return f"<function={name}>\n{inner}</function>"


def invoke(name: str, arguments: Arguments, space: str = "") -> str:
    form = f'<{space}parameter name="{{key}}">{{value}}</{space}parameter>\n'
    return f'<{space}invoke name="{name}">\n{tags(arguments, form)}</{space}invoke>'


def dsml(name: str, arguments: Arguments, outer: str = "function_calls", bar: str = "｜") -> str:
    mark = f"{bar}DSML{bar}"
    inner = "".join(
        f'<{mark}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
        f"{plain(value)}</{mark}parameter>\n"
        for key, value in arguments.items()
    )
    return (
        f'<{mark}{outer}>\n<{mark}invoke name="{name}">\n{inner}</{mark}invoke>\n</{mark}{outer}>'
    )


def old_deepseek(name: str, arguments: Arguments) -> str:
    return (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
        f"{name}\n```json\n{arguments_json(arguments)}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )


def glm(name: str, arguments: Arguments) -> str:
    form = "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
    return f"<tool_call>{name}\n{tags(arguments, form)}</tool_call>"


def kimi(name: str, arguments: Arguments) -> str:
    return (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0"
        f"<|tool_call_argument_begin|>{arguments_json(arguments)}<|tool_call_end|><|tool_calls_section_end|>"
    )


def vcp(name: str, arguments: Arguments) -> str:
    pairs = [("tool_name", name), *arguments.items()]
    lines = "".join(f"{key}:「始」{plain(value)}「末」,\n" for key, value in pairs)
    return f"<<<[TOOL_REQUEST]>>>\n{lines}<<<[END_TOOL_REQUEST]>>>"


def cline(name: str, arguments: Arguments) -> str:
    return f"<{name}>\n{tags(arguments, '<{key}>{value}</{key}>' + chr(10))}</{name}>"


def gemma(name: str, arguments: Arguments) -> str:
    pairs = ",".join(f"{key}:<escape>{plain(value)}<escape>" for key, value in arguments.items())
    return f"<start_function_call>call:{name}{{{pairs}}}<end_function_call>"


FORMS: Mapping[str, Form] = {
    "bare JSON": call_json,
    "bare JSON, parameters": lambda n, a: call_json(n, a, "parameters"),
    "indented JSON": lambda n, a: json.dumps({"name": n, "arguments": a}, indent=2),
    "bare list": lambda n, a: f"[{call_json(n, a)}]",
    "fenced JSON": lambda n, a: f"```json\n{call_json(n, a)}\n```",
    "fence without label": lambda n, a: f"```\n{call_json(n, a)}\n```",
    "fence labelled tool_call": lambda n, a: f"```tool_call\n{call_json(n, a)}\n```",
    "fence labelled tool_use": lambda n, a: f"```tool_use\n{call_json(n, a)}\n```",
    "fenced list": lambda n, a: f"```json\n[\n{call_json(n, a)}\n]\n```",
    "tool and tool_input": lambda n, a: call_json(n, a, "tool_input", "tool"),
    "action and action_input": lambda n, a: call_json(n, a, "action_input", "action"),
    "function, arguments as text": lambda n, a: json.dumps(
        {"function": n, "arguments": arguments_json(a)}
    ),
    "tool_calls": lambda n, a: f'{{"tool_calls": [{{"function": {call_json(n, a)}}}]}}',
    "tool_calls, whole": lambda n, a: json.dumps(
        {
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": n, "arguments": arguments_json(a)},
                }
            ]
        }
    ),
    "function_call": lambda n, a: f'{{"function_call": {call_json(n, a)}}}',
    "Llama with type": lambda n, a: json.dumps({"type": "function", "name": n, "parameters": a}),
    "Llama's tag": lambda n, a: f"<|python_tag|>{call_json(n, a, 'parameters')}<|eom_id|>",
    "Llama's function": lambda n, a: f"<function={n}>{arguments_json(a)}</function>",
    "Hermes": lambda n, a: f"<tool_call>\n{call_json(n, a)}\n</tool_call>",
    "Hermes, in a row": lambda n, a: f"<tool_call>{call_json(n, a)}</tool_call>",
    "Qwen Coder": lambda n, a: f"<tool_call>\n{function(n, a)}\n</tool_call>",
    "Qwen Coder, bare": function,
    "Mistral": lambda n, a: f"[TOOL_CALLS][{call_json(n, a)}]",
    "Mistral, named": lambda n, a: f"[TOOL_CALLS]{n}[ARGS]{arguments_json(a)}",
    "Mistral, with id": lambda n, a: f"[TOOL_CALLS]{n}[CALL_ID]a1b2c3d4e[ARGS]{arguments_json(a)}",
    "DSML": dsml,
    "DSML, tool_calls": lambda n, a: dsml(n, a, "tool_calls"),
    "DSML, plain bars": lambda n, a: dsml(n, a, bar="|"),
    "DeepSeek before": old_deepseek,
    "GLM": glm,
    "Kimi": kimi,
    "MiniMax": lambda n, a: f"<minimax:tool_call>\n{invoke(n, a)}\n</minimax:tool_call>",
    "Claude": lambda n, a: f"<function_calls>\n{invoke(n, a)}\n</function_calls>",
    "Claude, with a name space": lambda n, a: (
        f"<function_calls>\n{invoke(n, a, 'antml:')}\n</function_calls>"
    ),
    "invoke alone": invoke,
    "harmony": lambda n, a: (
        f"<|channel|>commentary to=functions.{n} <|constrain|>json"
        f"<|message|>{arguments_json(a)}<|call|>"
    ),
    "harmony, in the role": lambda n, a: (
        f"<|start|>assistant to=functions.{n}<|channel|>commentary json"
        f"<|message|>{arguments_json(a)}<|call|>"
    ),
    "Gemma": lambda n, a: f"```tool_code\n{n}({keywords(a)})\n```",
    "Gemma, printed": lambda n, a: f"```tool_code\nprint({n}({keywords(a)}))\n```",
    "FunctionGemma": gemma,
    "Granite": lambda n, a: f"<|tool_call|>[{call_json(n, a)}]",
    "Phi": lambda n, a: f"<|tool_call|>[{call_json(n, a)}]<|/tool_call|>",
    "functools": lambda n, a: f"functools[{call_json(n, a)}]",
    "Command-R": lambda n, a: (
        f"Action: ```json\n[{call_json(n, a, 'parameters', 'tool_name')}]\n```"
    ),
    "Command-A": lambda n, a: (
        '<|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": '
        f'{json.dumps(n)}, "parameters": {arguments_json(a)}}}\n]<|END_ACTION|>'
    ),
    "Functionary": lambda n, a: f">>>{n}\n{arguments_json(a)}",
    "InternLM": lambda n, a: (
        f"<|action_start|><|plugin|>\n{call_json(n, a, 'parameters')}<|action_end|>"
    ),
    "LFM": lambda n, a: f"<|tool_call_start|>[{n}({keywords(a)})]<|tool_call_end|>",
    "Nemotron": lambda n, a: f"<TOOLCALL>[{call_json(n, a)}]</TOOLCALL>",
    "Hunyuan": lambda n, a: (
        f"<tool_calls>\n<tool_call>{n}\n```json\n{arguments_json(a)}\n```\n</tool_call>\n</tool_calls>"
    ),
    "Seed": lambda n, a: f"<seed:tool_call>\n{function(n, a)}\n</seed:tool_call>",
    "tool_use": lambda n, a: (
        f"<tool_use>\n<name>{n}</name>\n<arguments>{arguments_json(a)}</arguments>\n</tool_use>"
    ),
    "ReAct": lambda n, a: f"Action: {n}\nAction Input: {arguments_json(a)}",
    "Python list": lambda n, a: f"[{n}({keywords(a)})]",
    "Python": lambda n, a: f"{n}({keywords(a)})",
    "name and object": lambda n, a: f"{n}({arguments_json(a)})",
    "Cline": cline,
    "VCP": vcp,
}

INTRODUCTIONS = (
    "", "I'll create the file now:\n\n", "Let me do that.\n", "Sure! I will create it for you.\n\n",
    "The file does not exist, so I create it:\n", "I need to make that file first.\n\n",
    "Okay.\n\n", "Now I am going to write the file.\n\n", "Creating the file now:\n\n",
    "There is no such file yet.\n\n", "<think>\nThe user wants a file.\n</think>\n\n",
    "<thinking>For example, create_file takes a path.</thinking>\n", "我来创建这个文件：\n\n",
    "好的，我现在创建文件。\n", "首先，让我看看目录：\n", "Thought: I need to create the file.\n",
    "1. I look at it.\n2. I mend it.\n\nFirst, I'll make the file:\n\n",
    "Let me check if it works:\n", "I should start with the file.\n\n", "Got it.\n",
    "Here we go:\n",
    "Calling `create_file`:\n", "Writing a.txt now.\n",
    "To create the file, I'll use the create_file tool.\n\n", "没问题，马上创建。\n",
    "I've looked at the code. The bug is in `a.py`. I'll mend it now.\n\n", "Next, I'll make it:\n",
    "Tool call:\n\n", "**Tool Call:**\n", "### Action\n\n", "Calling the tool:\n\n",
    "Function call: \n", "I'll create the file.\n\nTool call:\n", "工具调用：\n",
)  # fmt: skip
"""Texts before a call that is made."""

EXAMPLE_INTRODUCTIONS = (
    "A call looks like this, for example:\n\n", "Here is an example of a call:\n\n",
    "You would call it like this:\n\n", "The format is:\n\n", "The syntax of a call in Hermes:\n",
    "I called the tool like this:\n\n", "I already ran this:\n\n", "Earlier I used\n\n",
    "Do not run this:\n\n", "I will not run this:\n\n", "Never do that:\n\n",
    "Here is what the model printed:\n\n", "The model answered with this.\n\n",
    "The file notes.txt contains:\n\n", "The README says:\n\n", "The page tells me to run:\n\n",
    "The tool returned this text:\n\n", "The log shows:\n\n", "[12:00:01] assistant: ",
    "User: make a file\nAssistant: ", "User: make a file\nAssistant: I'll create it:\n",
    "Shall I run this?\n\n", "Should I do it?\n", "If you agree, I'll run:\n\n",
    "Would you like me to run\n\n", "I could run:\n", "You can paste this:\n\n",
    "Please confirm this call:\n\n", "- Creating a file: ", "- ", "1. ", "* a call: ", "> ", "| ",
    "+", "-    ", "# ", "// ", "## Creating a file\n\n", "## create_file\n\nCreates a file.\n\n",
    "The prompt of Qwen is in XML.\n\nThe path is given first:\n\n",
    "Models write calls as text. For instance:\n\nI'll create the file now:\n\n",
    "Qwen was trained on one form of a call.\n\nA file is created with\n\n",
    "Steps to make a file:\n- pick a name\n- write\n", 'def f():\n    """Make a call:\n\n',
    "<!-- a call:\n", "<pre>\n", "<details>\n<summary>The call</summary>\n\n",
    "I'll explain the form. It has a name and arguments:\n\n",
    "Let me show you how it is done:\n\n", "I'll walk through it:\n\n", "I almost ran:\n",
    "When I need a file, I call\n\n", "It has two parts. The name comes first.\n\n",
    "Let me draft the call for you to review:\n\n", "To create a file:\n\n",
    "I'll quote the log:\n\n", "This is the answer of the server:\n\n", "He wrote: ", "Usage:\n",
    "The log shows:\n\nI'll create the file now.\n\n", "The model wrote:\n\nTool call:\n",
    "It was trained on transcripts.\n\nTool call:\n", "A reply has two parts:\n\nLet me do it.\n",
    "What the server sent:\nI'll create the file:\n", "- Tool call:\n", "1. Tool call:\n",
    "> Tool call:\n", "# Protocol\n\nTool call:\n\n", "日志：\n我来创建文件：\n",
    "The README says:\n\n### Tool call\n",
    "The documentation has this:\n\n", "In the transcript, the assistant says:\n\n",
    "The injected text is:\n\n", "The following would delete all:\n\n", "Instead of\n",
    "例如：\n", "格式如下：\n", "模型输出了：\n\n", "文件内容是：\n", "你可以这样调用：\n",
    "我之前调用了：\n",
    "不要运行：\n", "日志显示：\n\n", "我会这样写：\n", "需要我运行吗？\n",
    "Expected output:\n", "Test case 3:\n", "Diff:\n", "It printed\n", "What does this mean?\n\n",
    "The answer of the tool was\n\n", "Compare the two forms:\n\n", "Response:\n", "Input:\n\n",
)  # fmt: skip
"""Texts before a call that is an example."""

TRAILING_TEXTS = (
    "\n\nThis is the syntax that Qwen was taught.", "\n\nThe file is there now.", " |",
    "\n\nShall I run it?", "\n\nThis would create the file.", "\n\nReplace the path by yours.",
    "\n</pre>", "\n\nThe first line names the tool.", '"', "\n\n是否运行？", "\nObservation: done",
)  # fmt: skip
"""Texts after a call that is an example, or that go on as if it had run."""
