"""What a client may ask of the server, each request answered once."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, assert_never

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from core.events import ApprovalAsked, Reply
from modules.mcp_server.calls import PendingCall, Progress
from modules.mcp_server.offered_tools import listed
from modules.mcp_server.questions import TOO_LONG, form_of, reply_of
from modules.mcp_server.session import McpSession
from modules.translator import Translator
from utils.text.clean import visible

Context = ServerRequestContext[Any, Any]
_QUESTION = "question"
"""The key of the one question of a result that wants input."""
_INSTRUCTIONS = (
    "Works in one project folder, {project}: paths begin there. Programs run in a sandbox. What a "
    "call changed can be taken back with undo. Calls run one at a time, in order."
)


class Handlers:
    """Answers requests in the event loop; calls run in the thread of *session*."""

    def __init__(self, session: McpSession, translator: Translator) -> None:
        self._session = session
        self._translator = translator
        self._paused: dict[str, PendingCall] = {}
        """Calls that wait for their client to come back with an answer, by what it shows then."""

    def server(self, project: str, version: str) -> Server[Any]:
        return Server(
            "onefold",
            title="Onefold",
            version=version,
            instructions=_INSTRUCTIONS.format(project=visible(project)),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    async def list_tools(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed(self._session.tools, self._session.task_name))

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.request_state is not None:
            call = self._resumed(params)
        else:
            call = _call_of(context, params)
            self._session.submit(call)
        try:
            return await self._follow(context, call)
        except asyncio.CancelledError:
            self._session.cancel(call)
            raise

    async def _follow(
        self, context: Context, call: PendingCall
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Pass on what happens in *call* until it is over, or wants an answer that the client can
        give in another request alone."""
        while True:
            update = await call.next_update()
            match update:
                case Progress():
                    call.steps += 1
                    await context.session.report_progress(call.steps, None, update.message)
                case ApprovalAsked():
                    call.question = update
                    form = form_of(update, call.title, self._translator)
                    if form is None:
                        call.answer(Reply(False, reason=TOO_LONG))
                    elif context.session.can_send_request:
                        call.answer(await _elicited(context, form, update))
                    else:
                        return self._paused_at(call, form)
                case types.CallToolResult():
                    return update
                case _:
                    assert_never(update)

    def _paused_at(
        self, call: PendingCall, form: types.ElicitRequestFormParams
    ) -> types.InputRequiredResult:
        state = secrets.token_urlsafe()
        self._paused[state] = call
        return types.InputRequiredResult(
            input_requests={_QUESTION: types.ElicitRequest(params=form)}, request_state=state
        )

    def _resumed(self, params: types.CallToolRequestParams) -> PendingCall:
        """Return the call that *params* go on with, its question answered. Raises `MCPError`."""
        call = self._paused.pop(params.request_state or "", None)
        is_same = call and (call.name, call.arguments) == (params.name, params.arguments or {})
        if call is None or call.question is None or not is_same:
            if call:
                self._session.cancel(call)
            raise MCPError(
                code=types.INVALID_PARAMS,
                message="requestState is of no call that waits here; call the tool again without",
            )
        response = (params.input_responses or {}).get(_QUESTION)
        result = response if isinstance(response, types.ElicitResult) else None
        call.answer(reply_of(result, call.question))
        return call


def _call_of(context: Context, params: types.CallToolRequestParams) -> PendingCall:
    session = context.session
    capabilities = session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    client = session.client_params
    return PendingCall(
        params.name,
        params.arguments or {},
        client=visible(client.client_info.name)[:60] if client else "",
        # One that names no kind of question means forms, as before there were two.
        can_ask=elicitation is not None
        and (elicitation.form is not None or elicitation.url is None),
        wants_progress=bool(context.meta and "progress_token" in context.meta),
    )


async def _elicited(
    context: Context, form: types.ElicitRequestFormParams, question: ApprovalAsked
) -> Reply | None:
    """Ask the client's person; None where the client gives no answer."""
    try:
        result = await context.session.elicit_form(
            form.message, form.requested_schema, related_request_id=context.request_id
        )
    except (MCPError, ValidationError):
        return None
    return reply_of(result, question)
