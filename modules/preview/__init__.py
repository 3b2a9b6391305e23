"""Previews: what a job serves inside the sandbox, shown in the person's browser.

- access         Who may see a preview: whoever came by a link that works once, and bears its cookie
                 since.
- answer_pages   Answers of a preview that are ours: a small page, or a line for who wants none.
- bodies         Bodies of HTTP messages, and both directions of a WebSocket: passed on, no faster
                 than taken.
- feature        Previews of a session: what its jobs serve, shown in the person's browser.
- forwarding     One connection of a browser to a preview: who asks is checked, and each request
                 passed on.
- gateway        The gateway: our own listener, by which a browser reaches the previews.
- http_head      Heads of HTTP messages, read strictly: what two programs could read in two ways is
                 refused.
- inner_sockets  Sockets in the network of a sandbox, connected by us to what listens there.
- preview        One preview: a port inside a sandbox, the name it has in a browser, and who may see
                 it.
- rewriting      Headers on their way through a preview.
- socket_maker   Maker of sockets inside the network of a sandbox, for `inner_sockets`.
"""

EXPORTS = {
    "feature": ["Previews"],
    "gateway": ["PreviewGateway"],
    "preview": ["Preview"],
}
