"""The one way to the network: a proxy, and what is fetched for a program.

- fetch          Fetching for a program what it cannot fetch itself: with a password, or over plain
                 http.
- package_index  Where pip of the person gets packages from: asked of pip itself, and made usable in
                 the sandbox.
- proxy          The one way from the sandbox to the network: CONNECT to the hosts that are allowed,
                 no other.
- relay          The other end of `proxy`, in the sandbox: a port on its loopback, joined to the
                 socket.
"""
