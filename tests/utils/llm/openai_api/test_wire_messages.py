"""The same history in the order and roles that a server takes, each request the last one longer."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from utils.llm.openai_api.wire_messages import arrange_messages, serialize_message
from utils.llm.profiles.server_profile import ServerProfile
from utils.pictures import Picture, PictureGone
from utils.text.codec import to_plain

Message = dict[str, Any]


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def reply(text: str, *ids: str) -> Message:
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids
    ]
    message = {"role": "assistant", "content": text, "reasoning_content": "hm"}
    return {**message, "tool_calls": calls} if calls else message


def answer(call_id: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": f"did {call_id}"}


TURN = [system("You are."), system("Place."), user("Go."), reply("", "a", "b"), answer("a"),
        answer("b"), system("News."), reply("Done."), system("More."), user("And?")]  # fmt: skip


def said(messages: Any) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in messages]


def test_system_messages_come_first_and_later_ones_become_notes() -> None:
    profile = ServerProfile(system_messages="first")
    assert said(arrange_messages(TURN, profile)) == [
        ("system", "You are.\n\nPlace."),
        ("user", "Go."),
        ("assistant", ""),
        ("tool", "did a"),
        ("tool", "did b"),
        ("user", "[Note from the system]\nNews."),
        ("assistant", "Done."),
        ("user", "[Note from the system]\nMore."),
        ("user", "And?"),
    ]


def test_where_roles_alternate_notes_join_what_they_follow() -> None:
    profile = ServerProfile(system_messages="none", alternating=True)
    assert said(arrange_messages(TURN, profile)) == [
        ("user", "You are.\n\nPlace.\n\nGo."),
        ("assistant", ""),
        ("tool", "did a"),
        ("tool", "did b\n\n[Note from the system]\nNews."),
        ("assistant", "Done."),
        ("user", "[Note from the system]\nMore.\n\nAnd?"),
    ]


def test_a_person_never_speaks_in_a_tools_answer() -> None:
    profile = ServerProfile(alternating=True)
    stopped = [user("Go."), reply("", "a"), answer("a"), user("Rather this.")]
    assert said(arrange_messages(stopped, profile))[-2:] == [
        ("assistant", "(stopped)"),
        ("user", "Rather this."),
    ]


def test_each_call_has_a_reply_of_its_own_where_one_is_the_most() -> None:
    profile = ServerProfile(parallel_calls=False)
    alone = list(
        arrange_messages([user("Go."), reply("So.", "a", "b"), answer("a"), answer("b")], profile)
    )
    assert alone == [user("Go."), reply("So.", "a"), answer("a"), reply("", "b"), answer("b")]


def test_short_ids_fit_their_answers() -> None:
    profile = ServerProfile(call_ids="short")
    call, result = (
        serialize_message(reply("", "call_00_abcdef"), profile),
        serialize_message(answer("call_00_abcdef"), profile),
    )
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert len(result["tool_call_id"]) == 9
    assert result["tool_call_id"].isalnum()


def test_a_reply_bears_what_the_server_takes() -> None:
    assert serialize_message(reply("", "a"), ServerProfile())["reasoning_content"] == "hm"
    assert (
        serialize_message({"role": "assistant", "content": "x"}, ServerProfile())[
            "reasoning_content"
        ]
        == ""
    )
    profile = ServerProfile(reasoning_content=False, call_content="null")
    bare = serialize_message(reply("", "a"), profile)
    assert "reasoning_content" not in bare
    assert bare["content"] is None
    assert serialize_message(reply("Text."), profile)["content"] == "Text."


def picture(name: str) -> Message:
    shown = Picture(hashlib.sha256(name.encode()).hexdigest(), name, "PNG", 8, 6, 99, "image/png")
    return to_plain(shown)  # type: ignore[no-any-return]


def bytes_of(digest: str) -> bytes:
    if digest == picture("gone")["digest"]:
        raise PictureGone(digest)
    return digest.encode()


def parts_of(name: str) -> Message:
    data = b64encode(picture(name)["digest"].encode()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


LOOKED = [
    {**user("What is this?"), "pictures": [picture("p"), picture("gone")]},
    reply("", "a", "b"),
    {**answer("a"), "pictures": [picture("q")]},
    answer("b"),
    system("News."),
    reply("Red."),
]
NOTE = "[picture {name}, PNG, 8×6, 99 B; {why}]"


def sent(messages: Any, profile: ServerProfile) -> list[Message]:
    return [
        serialize_message(message, profile, bytes_of)
        for message in arrange_messages(messages, profile)
    ]


def test_a_model_that_sees_gets_the_pictures_behind_all_answers() -> None:
    gone = NOTE.format(name="gone", why="it is not kept any more")
    first, calls, *rest = sent(LOOKED, ServerProfile(pictures=True))
    text = {"type": "text", "text": "What is this?"}
    assert first == user([text, parts_of("p"), {"type": "text", "text": gone}])  # type: ignore[arg-type]
    assert calls == reply("", "a", "b")
    shown = {
        "role": "user",
        "content": [
            {"type": "text", "text": "[Pictures that the calls above read: q]"},
            parts_of("q"),
        ],
    }
    assert rest == [answer("a"), answer("b"), shown, system("News."), reply("Red.")]


def test_a_model_that_does_not_see_is_told_of_them() -> None:
    told = sent(LOOKED, ServerProfile())
    why = "this model does not see pictures"
    notes = [NOTE.format(name=name, why=why) for name in ("p", "gone", "q")]
    assert told[0] == user("\n".join(["What is this?", *notes[:2]]))
    assert told[2] == {**answer("a"), "content": f"did a\n{notes[2]}"}
    assert [message["role"] for message in told] == [message["role"] for message in LOOKED]


def test_pictures_keep_roles_alternating() -> None:
    told = sent(LOOKED, ServerProfile(pictures=True, alternating=True))
    assert [m["role"] for m in told] == [
        *("user", "assistant", "tool", "tool"),
        *("assistant", "user", "assistant"),
    ]
    assert told[4]["content"] == "(looking at it)"
    assert told[5]["content"][-1]["text"] == "[Note from the system]\nNews."


PROFILES = st.builds(
    ServerProfile,
    pictures=st.booleans(),
    system_messages=st.sampled_from(["anywhere", "first", "none"]),
    alternating=st.booleans(),
    parallel_calls=st.booleans(),
)


def test_what_was_sent_is_not_added_to_when_no_reply_came() -> None:
    """A request failed after the answer, and again after the person's next words."""
    profile = ServerProfile(alternating=True)
    sent = [user("Go."), reply("", "a"), answer("a"), system("News."), user("And?"), user("Now?")]
    ends = [3, 5]
    for end in ends:
        before = list(arrange_messages(sent[:end], profile, [one for one in ends if one < end]))
        assert list(arrange_messages(sent, profile, ends))[: len(before)] == before
    assert said(arrange_messages(sent, profile, ends))[2:] == [
        ("tool", "did a"),
        ("assistant", "(stopped)"),
        ("user", "[Note from the system]\nNews.\n\nAnd?"),
        ("assistant", "(stopped)"),
        ("user", "Now?"),
    ]


@st.composite
def histories(draw: st.DrawFn) -> list[list[Message]]:
    """Steps of a conversation as they are sent: each list is what comes before the next request."""
    steps = [[system("You are."), system("Place."), user("0")]]
    for number in range(draw(st.integers(1, 6))):
        ids = [f"{number}{letter}" for letter in "abc"[: draw(st.integers(0, 3))]]
        shows = draw(st.booleans())
        answers = [{**answer(i), "pictures": [picture(i)]} if shows else answer(i) for i in ids]
        step = [reply(f"r{number}", *ids), *answers]
        if draw(st.booleans()):
            step.append(system(f"s{number}"))
        if not ids:
            seen = {"pictures": [picture("p")]} if draw(st.booleans()) else {}
            step.append({**user(f"u{number}"), **seen})
        steps.append(step)
    return steps


@given(PROFILES, histories())
def test_requests_only_ever_grow_at_their_end(
    profile: ServerProfile, steps: list[list[Message]]
) -> None:
    history: list[Message] = []
    before: list[Message] = []
    for step in steps:
        history += step
        now = [serialize_message(m, profile, bytes_of) for m in arrange_messages(history, profile)]
        assert now[: len(before)] == before
        before = now


@given(PROFILES, histories())
def test_nothing_said_is_lost(profile: ServerProfile, steps: list[list[Message]]) -> None:
    sent = [message for step in steps for message in step]
    text = "\n".join(str(message["content"]) for message in arrange_messages(sent, profile))
    assert all(message["content"] in text for message in sent)
