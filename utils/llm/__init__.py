"""The model's client: servers, providers and their APIs, errors and prices.

- anthropic_api/  Anthropic's Messages API.
- calls/          Calls that come otherwise than as calls: as text, as markup, in JSON that is a
                  little wrong.
- openai_api/     The chat-completions API: requests out, a stream of events back.
- account         A person's account at a provider of models: what their failures have to name.
- api             What a provider's API has to give: everything that differs between one wire and
                  another.
- apis            Which API a provider speaks; the only place that knows all of them.
- completion      What a model's reply is made of, as the rest of the house sees it.
- endpoint        A model's server: a request's bytes out, its reply in pieces back.
- error_bodies    Reading the body of an error: its sentence, its type and the status it stands for.
- errors          What can go wrong between us and the model's server, told to people in one
                  sentence.
- prices          What a model call costs.
- probe           What a server says of a model unasked: its window, its longest reply, whether it
                  sees.
- provider        A provider of models: a server, the key for it and the API it speaks.
- providers       Several providers of models behind one client: a model's name says whose it is.
- refusals        Reading refusals: which part of a request a server does not take.
- repetition      Noticing a reply that says the same again and again without end, as weak models
                  do.
- reply_limits    Limits of one reply of a server, beyond which it is broken off, and the watch over
                  them.
- retry_after     Reading for how long a server wants us to wait, however it says so.
- server_knowledge
                  Knowing a model's server: by its API, by what it refused, and by a look at what
                  it says.
- server_profile  The profile of a server: what it takes for one model. And where profiles are kept.
- silent_cut      Noticing a server that leaves out, without a word, what does not fit its window;
                  Ollama does.
- sse             Server-sent events: bytes as the network brings them to the data of whole events.
- transport       The line to the model's server: HTTP/1.1 that a `Stop` cuts at once, at whatever
                  it waits for.
"""
