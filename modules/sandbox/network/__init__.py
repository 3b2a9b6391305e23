"""The one way to the network: a proxy, and what is fetched for a program.

- fetch            Fetching for a program from servers that it cannot reach itself: by password, or
                   plain http.
- listening_ports  The TCP ports on which a program in a sandbox listens, as the kernel tells of
                   them.
- package_index    Package indexes of the person's pip: asked of pip itself, and made usable in the
                   sandbox.
- proxy            Proxy from the sandbox to the network: CONNECT to the hosts that are allowed, no
                   other.
- relay            Relay inside the sandbox to `proxy`: a port on its loopback, joined to the
                   socket.
- shared_network   A network that the programs of one project share while one of them runs on in the
                   background.
"""

EXPORTS = {
    "proxy": ["PORT", "Proxy", "SOCKET_IN_SANDBOX"],
    "shared_network": ["Namespaces", "SharedNetwork"],
}
