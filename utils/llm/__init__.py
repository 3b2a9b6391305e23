"""The model's client: servers, providers and their APIs, errors and prices.

- anthropic_api/  Anthropic's Messages API.
- calls/          Calls that come otherwise than as calls: as text, as markup, in JSON that is a
                  little wrong.
- http/           The connection to a server: bytes, events and failures.
- openai_api/     The chat-completions API: requests out, a stream of events back.
- profiles/       Profiles of servers: what each takes, learnt from its refusals, a probe and its
                  counts.
- protocols/      Protocols of calls: how the tools, calls and answers that the engine knows stand
                  on the wire.
- account         A person's account at a provider of models: the settings and pages that failures
                  name.
- api             Protocols of a provider's API: everything that differs between one wire and
                  another.
- apis            Lookup of a provider's API; the only place that knows all of them.
- completion      Parts of a model's reply, as the rest of the program sees them.
- endpoint        The endpoint of a model's server: sends a request's bytes, yields its reply in
                  pieces.
- key_check       Checking of a key without a model: by a list of models that is for keys alone.
- late_client     A client that is made when it is first used: a prompt needs the name of its
                  model alone.
- prices          Prices of model calls.
- provider        A provider of models: a server, the key for it and the API it speaks.
- providers       Several providers of models behind one client: a model's name says whose it is.
- repetition      Noticing a reply that says the same again and again without end, as weak models
                  do.
- served_model    The model that a session goes on with: its name, and the server that it was at.
"""

EXPORTS = {
    "account": ["ANTHROPIC_ACCOUNT", "Account", "DEEPSEEK_ACCOUNT", "OPENAI_ACCOUNT"],
    "api": ["Api", "ReplyParser"],
    "apis": ["api_of"],
    "calls.call_context": ["promises"],
    "calls.call_guard": ["CallGuard"],
    "calls.lenient_json": ["repair_object"],
    "calls.text_call_values": ["TextCall", "is_quoted"],
    "calls.text_calls": ["FoundCalls", "ToolFit", "find_calls"],
    "calls.vcp_block": ["Block", "read_block"],
    "calls.vcp_text": ["scan"],
    "completion": [
        "Completion",
        "DIRECT_CALL",
        "Delta",
        "EmptyReply",
        "ErrorKind",
        "ModelError",
        "ProfileLearned",
        "RawCall",
        "Retry",
        "SIGNED",
        "StreamItem",
        "Usage",
        "Wire",
    ],
    "endpoint": ["Endpoint"],
    "http.errors": ["ServerErrors"],
    "http.reply_failures": [
        "RequestFailed",
        "RetryKind",
        "cut_silently",
        "invalid_key",
        "window_too_small",
    ],
    "http.reply_limits": ["ReplyLimits"],
    "key_check": ["demands_key"],
    "late_client": ["LateClient"],
    "openai_api.chat_completions": ["ChatCompletions"],
    "openai_api.request": ["RequestBody"],
    "openai_api.streamed_calls": ["with_ids"],
    "prices": ["KNOWN_PRICES", "Price", "PriceList", "Tariff", "in_money", "plain_sum"],
    "profiles.refusals": ["adaptation_notice", "parse_window", "without_pictures"],
    "profiles.server_knowledge": ["ServerKnowledge", "below"],
    "profiles.server_profile": [
        "ProfileStore",
        "ProfilesInMemory",
        "ServerProfile",
        "USUAL_PROFILE",
        "changed",
    ],
    "profiles.silent_cut": ["SilentCut"],
    "protocols.call_protocol": ["CallProtocol"],
    "protocols.registry": ["ALL"],
    "protocols.text_reply": ["TextReply"],
    "protocols.vcp_messages": ["END_RESULT", "RESULT"],
    "provider": ["DEFAULT_PROVIDER", "Provider", "split_model_name", "usable"],
    "providers": ["ModelClient", "OpenClient", "missing_key"],
    "served_model": ["ModelChoice", "is_local", "is_same_server", "to_base_url", "without_login"],
}
