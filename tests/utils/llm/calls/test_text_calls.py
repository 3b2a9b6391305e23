"""A call written as text is a call, or a question, and never runs where it is merely shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.utils.llm.written_calls import (
    EXAMPLE_INTRODUCTIONS,
    FORMS,
    INTRODUCTIONS,
    TRAILING_TEXTS,
)
from utils.llm.calls.call_guard import CallGuard
from utils.llm.calls.leaked_calls import MarkupGuard
from utils.llm.calls.text_calls import ToolFit, find_calls

TOOLS = {
    "create_file": ({"path", "content"}, {"path", "content", "overwrite"}),
    "read_file": ({"path"}, {"path", "start_line"}),
    "list_files": (set[str](), {"path", "depth"}),
}


def judge(name: str, arguments: Mapping[str, Any]) -> ToolFit:
    name = name.removeprefix("functions.")
    if name not in TOOLS:
        return "unknown"
    needed, known = TOOLS[name]
    return "fits" if needed <= arguments.keys() <= known else "misfits"


ARGUMENTS = '{"path": "a.txt", "content": "hi\\nyou\\n"}'
JSON = f'{{"name": "create_file", "arguments": {ARGUMENTS}}}'
FENCED = f"```json\n{JSON}\n```"
FUNCTION = (
    "<function=create_file>\n<parameter=path>\na.txt\n</parameter>\n"
    "<parameter=content>\nhi\nyou\n</parameter>\n</function>"
)
INVOKE = (
    '<invoke name="create_file">\n<parameter name="path">a.txt</parameter>\n'
    '<parameter name="content">hi\nyou\n</parameter>\n</invoke>'
)
WHOLE = {
    "tools": f"<tools>\n  {JSON}\n</tools>",
    "doubled braces": f"{{{JSON}}}",
    "doubled braces in a tag": f"<tool_call>\n{{{JSON}}}\n</tool_call>",
    "doubled braces in a fence": f"```json\n{{{JSON}}}\n```",
    "bare": JSON,
    "list": f"[{JSON}]",
    "fence": FENCED,
    "unnamed fence": f"```\n{JSON}\n```",
    "pretty": '{\n  "name": "create_file",\n  "parameters": {\n    "path": "a.txt",\n'
    '    "content": "hi"\n  }\n}',
    "type": f'{{"type": "function", "name": "create_file", "parameters": {ARGUMENTS}}}',
    "openai": f'{{"type": "function", "function": {JSON}}}',
    "tool_calls": f'{{"tool_calls": [{JSON}]}}',
    "tool": f'{{"tool": "create_file", "tool_input": {ARGUMENTS}}}',
    "action": f'{{"action": "create_file", "action_input": {ARGUMENTS}}}',
    "string arguments": json.dumps({"name": "create_file", "arguments": ARGUMENTS}),
    "raw line breaks": '{"name": "create_file", "arguments": {"path": "a", "content": "x\ny"}}',
    "hermes": f"<tool_call>\n{JSON}\n</tool_call>",
    "function_call": f"<function_call>{JSON}</function_call>",
    "function tag": FUNCTION,
    "function tag, JSON": f"<function=create_file>{ARGUMENTS}</function>",
    "qwen coder": f"<tool_call>\n{FUNCTION}\n</tool_call>",
    "invoke": INVOKE,
    "function_calls": f"<function_calls>\n{INVOKE}\n</function_calls>",
    "glm": "<tool_call>create_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n"
    "<arg_key>content</arg_key>\n<arg_value>b</arg_value>\n</tool_call>",
    "mistral": f"[TOOL_CALLS][{JSON}]",
    "mistral named": f"[TOOL_CALLS]create_file[ARGS]{ARGUMENTS}",
    "python tag": f"<|python_tag|>{JSON}<|eom_id|>",
    "granite": f"<|tool_call|>[{JSON}]",
    "functools": f"functools[{JSON}]",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.create_file:0"
    f"<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "harmony": "<|channel|>commentary to=functions.create_file <|constrain|>json<|message|>"
    f"{ARGUMENTS}<|call|>",
    "functiongemma": "<start_function_call>call:create_file{path:<escape>a, b<escape>,"
    "content:<escape>{x}<escape>}<end_function_call>",
    "gemma 4": '<|tool_call>call:create_file{path:<|"|>a, b<|"|>,'
    'content:<|"|>{x}<|"|>}<tool_call|>',
    "fence with a space": f"``` json\n{JSON}\n```",
    "react": f"Thought: I do it.\nAction: create_file\nAction Input: {ARGUMENTS}",
    "python": '[create_file(path="a", content="b")]',
    "tool_code": '```tool_code\nprint(create_file(path="a", content="b"))\n```',
    "cline": "<create_file>\n<path>a</path>\n<content>\nb\n</content>\n</create_file>",
    "end token": f"{JSON}<|im_end|>",
}
EMPTY_TAGS = "<tools></tools>\n"
LEADS = ["", "I will make it now.\n", "The file does not exist, so I create it:\n\n", "好的。\n"]


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("form", WHOLE)
def test_a_whole_call_at_the_end_is_a_call(form: str, lead: str) -> None:
    reading = find_calls(lead + WHOLE[form], judge)
    assert reading is not None
    assert reading.is_sure
    assert [call.name.removeprefix("functions.") for call in reading.calls] == ["create_file"]
    assert set(reading.calls[0].arguments) == {"path", "content"}
    assert reading.text in (lead.strip(), f"{lead}Thought: I do it.".strip())


@pytest.mark.parametrize("form", ["bare", "fence", "hermes"])
def test_empty_tags_before_a_call_are_nothing(form: str) -> None:
    reading = find_calls(EMPTY_TAGS + WHOLE[form], judge)
    assert reading is not None
    assert (reading.is_sure, reading.text) == (True, "")


@pytest.mark.parametrize("form", ["bare", "fence", "hermes", "function tag", "invoke", "mistral"])
def test_several_calls_are_all_read(form: str) -> None:
    other = WHOLE[form].replace("a.txt", "b.txt")
    reading = find_calls(f"{WHOLE[form]}\n{other}", judge)
    assert reading is not None
    assert reading.is_sure
    assert [call.arguments["path"] for call in reading.calls] == ["a.txt", "b.txt"]


@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_no_cut_of_a_call_runs(form: str, data: st.DataObject) -> None:
    whole = WHOLE[form].removesuffix("<|im_end|>").removesuffix("<|eom_id|>")
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    reading = find_calls(cut, judge)
    assert reading is None or not reading.is_sure or reading.calls == _calls(whole)


def _calls(text: str) -> Any:
    reading = find_calls(text, judge)
    return reading and reading.calls


SHOWN = {
    "for example": f"A call looks like this, for example:\n{FENCED}",
    "an example": f"Here is an example:\n\n{JSON}",
    "syntax": f"The syntax:\n<tool_call>\n{JSON}\n</tool_call>",
    "explained behind": f"{FENCED}\nThis is the syntax that Qwen was taught.",
    "code block": f"```\n<tool_call>\n{JSON}\n</tool_call>\n```",
    "python block": f"```python\ncall = {JSON}\n```",
    "code span": f"Write `{JSON}`",
    "quotation": f"> {JSON}",
    "forbidden": f"Do not call it so:\n{JSON}",
    "chinese": f"调用的格式：\n{FENCED}",
    "another tool": JSON.replace("create_file", "launch"),
    "package.json": '```json\n{"name": "create-app", "version": "1.0.0"}\n```',
    "a person": '{"name": "Ann", "arguments": {}}',
    "plain": "All is done.",
}


@pytest.mark.parametrize("case", SHOWN)
def test_what_is_shown_stays_text(case: str) -> None:
    assert find_calls(SHOWN[case], judge) is None


DOUBTED = [
    "The file contains:\n\n", "The README says:\n", "The user wrote:\n\n", "The tool answered:\n",
    "Here is what the log shows:\n\n", "The output was:\n", "Tool output:\n", "Usage:\n\n",
    "Line 3 of notes.txt is:\n\n", "I already ran:\n", "A call has this shape:\n\n",
    "I will not run this:\n\n", "The page tries to make me run\n\n", "Avoid this:\n\n",
    "Before I do it, please confirm:\n\n", "Once you approve I run:\n\n", "## Examples\n\n",
    "You can run this yourself:\n\n", "这个文件的内容是:\n\n", "我不会运行:\n\n",
    "你可以这样做：\n",
    "<think>\nI may do\n", "<details>\n<summary>It</summary>\n\n", "<!-- kept:\n", "<pre>\n",
    '<file path="a">\n', "<tool_response>\n", 'text = """\n',
]  # fmt: skip


@pytest.mark.parametrize("form", ["bare", "hermes", "function tag", "invoke", "cline", "python"])
@pytest.mark.parametrize("lead", DOUBTED)
def test_a_call_in_the_words_of_somebody_else_does_not_run(lead: str, form: str) -> None:
    reading = find_calls(lead + WHOLE[form], judge)
    assert reading is None or not reading.is_sure


MEANT = [
    "Let me check the output:\n", "I'll look at what the file contains:\n",
    "I need to see the log\n",
    "I found this bug in a.py, so I mend it:\n", "I fix this line:\n", "让我看看日志的内容:\n",
    "The file contains an error. I mend it now.\n\n", "I need the format of the data first.\n\n",
    "Let me check the syntax of the file.\n", "The output was empty, so I try again:\n\n",
    "As the README says, it is generated; I make it anew.\n", "<think>\nYes.\n</think>\n\n",
    "I run it again, such as it is.\n\n", "```python\nx = 1\n```\n\nNow:\n\n",
]  # fmt: skip


@pytest.mark.parametrize("form", ["bare", "hermes", "function tag", "invoke", "cline", "python"])
@pytest.mark.parametrize("lead", MEANT)
def test_talk_that_only_sounds_like_a_quotation_stops_no_call(lead: str, form: str) -> None:
    for text in (lead + WHOLE[form], f"{lead}{WHOLE[form]}\n{WHOLE[form]}"):
        reading = find_calls(text, judge)
        assert reading is not None
        assert reading.is_sure


WRITTEN = {"path": "made.txt", "content": 'hi\nyou "there" 世界'}


@pytest.mark.parametrize("form", FORMS)
def test_a_call_runs_in_every_syntax_after_all_talk_that_leads_to_it(form: str) -> None:
    written = FORMS[form]("create_file", WRITTEN)
    for lead in INTRODUCTIONS:
        reading = find_calls(lead + written, judge)
        assert reading, lead
        assert reading.is_sure, lead
        (call,) = reading.calls
        assert call.name.removeprefix("functions.") == "create_file"
        assert call.arguments == WRITTEN


@pytest.mark.parametrize("form", FORMS)
def test_a_call_runs_in_no_syntax_where_it_is_shown(form: str) -> None:
    written = FORMS[form]("create_file", WRITTEN)
    quoted = "> " + written.replace("\n", "\n> ")
    blocks = [f"```\n{written}\n```\nThat is it.", f"~~~~md\n{written}\n~~~~", quoted]
    shown = (
        [lead + written for lead in EXAMPLE_INTRODUCTIONS]
        + [written + rest for rest in TRAILING_TEXTS]
        + blocks
    )
    assert [text for text in shown if is_run(text)] == []


def is_run(text: str) -> bool:
    reading = find_calls(text, judge)
    return reading is not None and reading.is_sure


WITHOUT_END = {"Llama's tag", "Phi"}  # the end of these says nothing: others write none


@pytest.mark.parametrize("form", FORMS)
def test_no_cut_runs_in_any_syntax(form: str) -> None:
    written = FORMS[form]("create_file", WRITTEN)
    most = written.rindex("<|") if form in WITHOUT_END else len(written)
    ran = [cut for n in range(most) if is_run(cut := written[:n])]
    assert ran == []


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="<>&\r「」\x00"), max_size=40)


@given(st.sampled_from(sorted(FORMS)), PLAIN, PLAIN)
def test_a_call_survives_writing_and_reading_in_every_syntax(form: str, a: str, b: str) -> None:
    arguments = {"path": f"made {a}!", "content": f"x\n{b}!"}
    reading = find_calls(FORMS[form]("create_file", arguments), judge)
    assert reading is not None
    assert [call.arguments for call in reading.calls] == [arguments]


@given(st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(FORMS)))
def test_a_call_within_the_content_of_another_is_its_content(inner: str, outer: str) -> None:
    held = FORMS[inner]("read_file", {"path": "a"})
    written = FORMS[outer]("create_file", {"path": "doc.md", "content": f"# Calls\n{held}\n"})
    reading = find_calls(written, judge)
    assert reading is not None
    if reading.is_sure:
        (call,) = reading.calls
        assert call.name.removeprefix("functions.") == "create_file"
        assert held in call.arguments["content"]


@pytest.mark.parametrize(
    "value",
    ["path/to/file", "/path/to/a.txt", "<path>", "...", "…", "your_file.txt", "{path}", "{{path}}",
     "FILE_PATH", "[path here]", "path", "文件路径", "# your code here", "file content",
     "// content here"],
)  # fmt: skip
def test_a_call_with_a_placeholder_is_a_question(value: str) -> None:
    for form in FORMS:
        for arguments in ({"path": value, "content": "x"}, {"path": "a.txt", "content": value}):
            if value == "path" and arguments["content"] == value:
                continue
            assert not is_run(FORMS[form]("create_file", arguments)), form


def test_a_call_that_was_read_somewhere_is_cited_whatever_it_is_wrapped_in() -> None:
    heard = f"a.md:\n  7│<tool_call>\n  8│{JSON}\n  9│</tool_call>\n"
    for text in (JSON, FENCED, FUNCTION, INVOKE, f"<tool_call>\n{JSON}\n</tool_call>"):
        assert is_run(text)
        reading = find_calls(text, judge, [heard])
        assert reading is not None
        assert not reading.is_sure
    said = "Please make a.txt with create_file."
    assert (reading := find_calls(JSON, judge, [said])) is not None
    assert reading.is_sure


BROKEN_DOC = "<function=save_doc>\n<parameter=content>\n# Tools\n"
UNSURE = {
    "a name twice": '{"name": "read_file", "name": "list_files", "arguments": {}}',
    "an argument twice": '{"name": "read_file", "arguments": {"path": "a", "path": "b"}}',
    "a parameter twice": "<function=read_file><parameter=path>a</parameter>"
    "<parameter=path>b</parameter></function>",
    "a child twice": "<read_file>\n<path>a</path>\n<path>b</path>\n</read_file>",
    "a parameter without its end": "<function=create_file>\n<parameter=path>a\n"
    "<parameter=content>b</parameter>\n<parameter=overwrite>true</parameter></function>",
    "a call cut, then whole": f"{FUNCTION[:50]}\n{FUNCTION}",
    "a broken call holds one": BROKEN_DOC + FUNCTION,
    "the first is no tool": f'{{"name": "launch", "arguments": {{}}}}\n{JSON}',
    "indented as code": "I did:\n\n    " + JSON,
    "cut": JSON[:-2],
    "no end tag": f"<tool_call>\n{JSON}",
    "open fence": f"```json\n{JSON}",
    "talk behind": f"{FENCED}\nThe file is there now.",
    "missing argument": '{"name": "create_file", "arguments": {"path": "a"}}',
    "unknown argument": '{"name": "list_files", "arguments": {"force": true}}',
    "proposed": f"I could write it with\n{FENCED}",
    "asked": f"Shall I do this?\n{FENCED}",
    "another tool in tags": f"<tool_call>{JSON.replace('create_file', 'launch')}</tool_call>",
    "braces doubled at one end": "{" + JSON,
    "another end": f"<tool_call>{JSON}</function>",
    "two names of the tool": '{"name": "read_file", "tool": "list_files", "arguments": {}}',
    "two choices": f"{JSON}\nor\n{JSON}",
    "YAML": "tool: create_file\narguments:\n  path: a.txt\n  content: hi",
    "variables": "create_file(path=name, content=text)",
    "a wrong type": '{"name": "create_file", "arguments": ["a", "b"]}',
    "a single quote for each double": JSON.replace('"', "'"),
    "half of the second": f"{JSON}\n{JSON[:-4]}",
}


@pytest.mark.parametrize("case", UNSURE)
def test_what_is_in_doubt_is_a_question(case: str) -> None:
    reading = find_calls(UNSURE[case], judge)
    assert reading is not None
    assert not reading.is_sure


TEXTS = st.sampled_from(
    [*WHOLE.values(), *SHOWN.values(), *UNSURE.values(), "- [x](y) <b> {z}\n`a` [1]\n\n{\n"]
)


@given(TEXTS, st.lists(st.integers(1, 40), min_size=1))
def test_a_guard_loses_nothing_however_the_text_is_cut(text: str, sizes: list[int]) -> None:
    guard, shown, position = CallGuard(), "", 0
    while position < len(text):
        size = sizes[position % len(sizes)]
        shown += guard.feed(text[position : position + size])
        position += size
    assert shown + guard.close() == text


# The first words of these are those of any talk.
TALK = {"ReAct", "Command-R", "functools", "Functionary", "Python", "name and object"}
HELD = sorted(set(FORMS) - TALK)


@given(st.sampled_from(HELD), st.sampled_from(LEADS), st.integers(1, 30))
def test_no_part_of_a_call_is_shown(form: str, lead: str, size: int) -> None:
    guard, leaked = CallGuard(), MarkupGuard()
    text = lead + FORMS[form]("create_file", WRITTEN)
    cuts = range(0, len(text), size)
    shown = "".join(guard.feed(leaked.feed(text[start : start + size])) for start in cuts)
    assert shown == lead


def test_a_block_that_is_followed_by_talk_is_shown_at_once() -> None:
    guard = CallGuard()
    assert guard.feed('See:\n```json\n{"name": "x"') == "See:\n"
    assert guard.feed(', "version": 1}\n```\n') == ""
    assert guard.feed("That") == '```json\n{"name": "x", "version": 1}\n```\nThat'
    assert guard.feed(" is all.") == " is all."


ENDLESS = [
    "[\n", "{\n", "[1,\n", "`", "```\n", "\t", "\n\n", "<|im_end|> ", "<tool_call>x", "[x(\n",
    '{"name": "x", "arguments": {}}\n', "<function=x></function>", "\n<a_b><c>x</c></a_b>",
    "<function=read_file>\n<parameter=path>", "`a`\n{\n", "<parameter=", "functools[",
]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ENDLESS)
def test_a_text_without_end_is_read_to_its_end(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    reading = find_calls(text, judge)
    assert reading is None or not reading.is_sure
    find_calls(f"{text}\n{JSON}", judge)


@pytest.mark.parametrize("lead", ["", "[TOOL_CALLS]", "<tool_call>", "```json\n"])
@pytest.mark.parametrize("depth", [10, 600, 950, 100_000])
def test_a_call_that_is_nested_without_end_is_none(lead: str, depth: int) -> None:
    end = {"<tool_call>": "</tool_call>", "```json\n": "\n```"}.get(lead, "")
    reading = find_calls(f"{lead}{'[' * depth}{JSON}{']' * depth}{end}", judge)
    assert reading is None or not (reading.calls or reading.is_sure)


@pytest.mark.parametrize("block", ["```json\n{}\n```", "<tool_call>\n{}\n</tool_call>"])
def test_several_calls_in_one_block_are_all_read(block: str) -> None:
    reading = find_calls(block.replace("{}", f"{JSON}\n{JSON}"), judge)
    assert reading is not None
    assert (len(reading.calls), reading.is_sure) == (2, True)
    torn = find_calls(block.replace("{}", f"{JSON}\n{JSON[:-1]}"), judge)
    assert torn is None or not torn.is_sure


def test_a_parameter_does_not_run_on_past_a_damaged_end() -> None:
    assert find_calls(INVOKE, judge) is not None
    twice = "a.txt</parameters/a.txt</parameter>"
    assert find_calls(INVOKE.replace("a.txt</parameter>", twice), judge) is not None  # of XML
    damaged = "a.txt</parametertxt</parameter>"
    reading = find_calls(INVOKE.replace("a.txt</parameter>", damaged), judge)
    assert reading is None or not reading.calls or not reading.is_sure


def test_a_call_of_nobody_is_none() -> None:
    found = find_calls(f"<|channel|>commentary json<|message|>{ARGUMENTS}<|call|>", judge)
    assert found is None or not found.is_sure


ONE_END_TOO_MANY = '{{"name": "create_file", "arguments": {"path": "a.txt", "content": "hi"}}}}'
LONG_TEXT = '''{
  "name": "create_file",
  "arguments": {
    "path": "a.txt",
    "content": """say "hi"
it's\\tthere
"""
  }
}'''


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<tools>\n{}\n</tools>"])
def test_doubled_braces_may_end_once_too_often(around: str) -> None:
    """Qwen2.5-Coder of 1.5 billion parameters doubles the ends of the arguments as well."""
    reading = find_calls(around.format(ONE_END_TOO_MANY), judge)
    assert reading is not None
    assert reading.is_sure
    assert reading.calls[0].arguments == {"path": "a.txt", "content": "hi"}
    assert not is_run(f"{ONE_END_TOO_MANY}}} and more")


def test_a_text_in_three_quotes_is_a_text() -> None:
    for text in (LONG_TEXT, f"```json\n{LONG_TEXT}\n```"):
        reading = find_calls(text, judge)
        assert reading is not None
        assert reading.is_sure
        assert reading.calls[0].arguments["content"] == 'say "hi"\nit\'s\tthere\n'
    cuts = [LONG_TEXT[:end] for end in range(1, len(LONG_TEXT))]
    assert [text for text in cuts if is_run(text)] == []


def test_a_command_in_its_tag_is_a_call() -> None:
    shown = "You can run this yourself:\n\n<bash>\nls\n</bash>"
    texts = ["<bash>\nls && ls\n</bash>", "I'll look at the files.\n\n<bash>ls && ls</bash>"]
    for text in texts:
        reading = find_calls(text, lambda name, _: "fits" if name == "bash" else "unknown")
        assert reading is not None
        assert reading.is_sure
        assert [(c.name, c.arguments) for c in reading.calls] == [("bash", {"command": "ls && ls"})]
    for text in ("<bash>ls", "<bash>\n</bash>", "<bash>ls</bash>\n</bash>", shown):
        reading = find_calls(text, lambda name, _: "fits" if name == "bash" else "unknown")
        assert reading is None or not reading.is_sure


def test_the_end_of_a_fence_that_never_began_is_nothing() -> None:
    reading = find_calls(f"{JSON}\n```", judge)
    assert reading is not None
    assert (reading.is_sure, reading.text) == (True, "")
    assert not is_run(f"{JSON}\n```\n```")
