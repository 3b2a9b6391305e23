"""The one way to the network: a proxy, and what is fetched for a program.

- fetch          Fetching for a program from servers that it cannot reach itself: by password, or
                 plain http.
- offline        Runs without the network: package managers are told so, and a failure for want of
                 it is noticed.
- package_index  Package indexes of the person's pip: asked of pip itself, and made usable in the
                 sandbox.
- proxy          Proxy from the sandbox to the network: CONNECT to the hosts that are allowed, no
                 other.
- relay          Relay inside the sandbox to `proxy`: a port on its loopback, joined to the socket.
"""
