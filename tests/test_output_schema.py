"""`--output-schema`: the answer is JSON of the schema, or an exit code and one line say why not."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modules.answer_schema import AnswerSchema, InvalidAnswer
from tests.simulator import Call, Say, Simulator, Step
from utils.i18n import UserError

ROOT = Path(__file__).parents[1]
DRAFT = "http://json-schema.org/draft"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"$ref": "#/$defs/name"}, "n": {"type": "integer"}},
    "required": ["name", "n"],
    "$defs": {"name": {"type": "string", "minLength": 1}},
}


def schema_of(tmp_path: Path, value: Any) -> AnswerSchema:
    path = tmp_path / "schema.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return AnswerSchema.load(path)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "empty"),
        ("{", "not valid JSON"),
        ("[1]", "a JSON object"),
        ({"$schema": 5}, "$schema must be text"),
        ('{"not":' * 300 + "{}" + "}" * 300, "nested too deep"),
        ({"type": "strange"}, "type: 'strange' is not valid"),
        ({"properties": {"a": {"minimum": "x"}}}, "properties/a/minimum: 'x' is not of type"),
        ({"$id": 5}, "$id: 5 is not of type"),
        ({"$ref": "http://["}, "it refers to http://[, which it does not contain"),
        ({"items": {"$ref": "other.json"}}, "it refers to other.json, which it does not contain"),
        ({"anyOf": [{"$ref": "#/$defs/a"}]}, "it refers to #/$defs/a, which it does not contain"),
        ({"$ref": "#/allOf/x", "allOf": [{}]}, "it refers to #/allOf/x, which it does not contain"),
        ({"$ref": "#/a/b", "a": {"b": {"$ref": "c"}}}, "it refers to c, which it does not contain"),
        ({"$ref": "#/a", "a": {"type": "strange"}}, "type: 'strange' is not valid"),
        ({"$ref": "#/a", "a": [1]}, "[1] is not of type"),
        ({"allOf": [{"$ref": "#"}]}, "it refers to itself endlessly"),
        ({"$schema": f"{DRAFT}-04/schema#", "$ref": 5}, "$ref must be text"),
        ({"$schema": f"{DRAFT}-03/schema#", "type": [{"$ref": "c"}]}, "it refers to c, which it"),
    ],
)
def test_a_bad_schema_is_one_sentence(tmp_path: Path, value: Any, told: str) -> None:
    with pytest.raises(UserError) as refused:
        schema_of(tmp_path, value)
    assert told in str(refused.value)


def test_a_device_is_not_read_to_its_end() -> None:
    with pytest.raises(UserError, match="larger than"):
        AnswerSchema.load(Path("/dev/zero"))


def test_a_number_that_none_can_be_is_no_answer(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, {"multipleOf": 0.1})
    with pytest.raises(InvalidAnswer, match="too large"):
        schema.answer_in("1e400")


def test_an_evil_pattern_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.answer_schema._MAX_SECONDS", 0.2)
    schema = schema_of(tmp_path, {"type": "string", "pattern": "^(a+)+$"})
    with pytest.raises(InvalidAnswer) as refused:
        schema.answer_in('"' + "a" * 60 + '!"')
    assert refused.value.reason == "to check it against the schema takes too long"
    assert signal.getsignal(signal.SIGPROF) == signal.SIG_DFL
    assert schema.answer_in('"aa"') == '"aa"'


def test_the_answer_is_the_json_alone(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SCHEMA)
    whole = '{"name": "a", "n": 1}'
    assert schema.answer_in(f" {whole}\n") == whole
    assert schema.answer_in(f"Here:\n```json\n{whole}\n```\n") == whole
    for bad, why in (
        ("It is a.", "not one JSON value"),
        ('{"name": "a", "n": NaN}', "not one JSON value"),
        ('{"name": "", "n": 1}', "at $.name: '' should be non-empty"),
        ('{"name": "a"}', "'n' is a required property"),
    ):
        with pytest.raises(InvalidAnswer, match=re.escape(why)):
            schema.answer_in(bad)


@pytest.mark.parametrize(
    "value",
    [
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"properties": {"$ref": {"type": "string"}}, "examples": [{"$ref": "no reference"}]},
        {"$id": "http://x.test/a", "$ref": "b", "$defs": {"b": {"$id": "b"}}},
        {"properties": {"next": {"$ref": "#"}}},
        {"$anchor": "top", "properties": {"next": {"$ref": "#top"}}},
    ],
)
def test_what_a_schema_holds_it_may_refer_to(tmp_path: Path, value: Any) -> None:
    assert schema_of(tmp_path, value).answer_in("{}") == "{}"


def test_nothing_is_fetched_and_no_model_is_asked(tmp_path: Path) -> None:
    with Simulator([]) as elsewhere:
        schema = {"properties": {"name": {"$ref": f"{elsewhere.url}/schema.json"}}}
        done, server = onefold(tmp_path, [], "-p", "go", schema=schema)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"it refers to {elsewhere.url}/schema.json, which it does not contain" in done.stderr
        assert done.stderr.count("\n") == 1
        assert elsewhere.requests == server.requests == []


def onefold(
    tmp_path: Path, script: list[Step], *argv: str, schema: Any = SCHEMA
) -> tuple[Any, Simulator]:
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    project = tmp_path / "demo"
    project.mkdir()
    with Simulator(script) as server:
        done = subprocess.run(
            [
                *(sys.executable, str(ROOT / "main.py")),
                *("--output-schema", "../schema.json", *argv),
            ],
            cwd=project,
            env={
                **os.environ,
                "ONEFOLD_DATA_DIR": str(tmp_path / "data"),
                "DEEPSEEK_API_KEY": "sk-test",
                "DEEPSEEK_BASE_URL": server.url,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    return done, server


def test_it_is_told_once_beside_the_prompt_and_a_wrong_answer_is_asked_again(
    tmp_path: Path,
) -> None:
    script: list[Step] = [Call("list_files"), Say("It is a."), Say('{"name": "a", "n": 1}')]
    done, server = onefold(tmp_path, script, "-p", "go", "--output", "json")
    said = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert said["answer"] == '{"name": "a", "n": 1}'
    assert (said["status"], said["steps"], said["usage"]["requests"]) == ("done", 3, 3)
    assert "not one JSON value" in server.requests[-1].last_user
    first, *_, last = [request.messages for request in server.requests]
    assert "minLength" not in first[0]["content"]
    assert sum("minLength" in (message["content"] or "") for message in last) == 1


def test_a_second_wrong_answer_is_exit_1(tmp_path: Path) -> None:
    script: list[Step] = [Say("It is a."), Say('```\n{"name": "a", "n": "1"}\n```')]
    done, _ = onefold(tmp_path, script, "-p", "go")
    assert done.returncode == 1
    assert done.stdout.startswith("```")
    assert done.stderr == (
        "The answer does not match the schema: at $.n: '1' is not of type 'integer'\n"
    )


def test_it_is_for_one_task_only(tmp_path: Path) -> None:
    done, server = onefold(tmp_path, [], "--cli")
    assert done.returncode == 2
    assert "--output-schema only works with -p" in done.stderr
    assert server.requests == []
