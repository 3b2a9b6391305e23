"""The model's client: servers, providers and their APIs, errors and prices.

- anthropic_api/    Anthropic's Messages API.
- calls/            Calls that come otherwise than as calls: as text, as markup, in JSON that is a
                    little wrong.
- openai_api/       The chat-completions API: requests out, a stream of events back.
- account           A person's account at a provider of models: the settings and pages that failures
                    name.
- api               Protocols of a provider's API: everything that differs between one wire and
                    another.
- apis              Lookup of a provider's API; the only place that knows all of them.
- completion        Parts of a model's reply, as the rest of the program sees them.
- endpoint          The endpoint of a model's server: sends a request's bytes, yields its reply in
                    pieces.
- error_bodies      Reading the body of an error: its sentence, its type and the status it stands
                    for.
- errors            Failures between us and the model's server, each as one sentence for people.
- prices            Prices of model calls.
- probe             Probe of a server for a model's properties: its window, its longest reply,
                    vision.
- provider          A provider of models: a server, the key for it and the API it speaks.
- providers         Several providers of models behind one client: a model's name says whose it is.
- refusals          Parser of refusals: the part of a request that a server does not take.
- repetition        Noticing a reply that says the same again and again without end, as weak models
                    do.
- reply_limits      Limits of one reply of a server, at which it is aborted, and the counter of it.
- retry_after       Reading for how long a server wants us to wait, however it says so.
- server_knowledge  Knowing a model's server: by its API, by what it refused, and by a look at what
                    it says.
- server_profile    Profile of a server, the shape of requests that it takes for one model; and a
                    store of them.
- silent_cut        Noticing a server that leaves out, without a word, what does not fit its window;
                    Ollama does.
- sse               Server-sent events: bytes as the network brings them to the data of whole
                    events.
- transport         HTTP/1.1 transport to the model's server, which a `Stop` aborts at once,
                    whatever it waits for.
"""
