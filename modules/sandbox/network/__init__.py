"""The one way to the network: a proxy, and what is fetched for a program.

- authority              Certificate authority of one run: certificates for the indexes whose https
                         ends with the proxy.
- compiled_registries    Registries of cargo, go and uv: TOML files, variables, and the netrc of the
                         person.
- fetch                  Fetching for a program from servers that it cannot reach itself: by
                         password, or plain http.
- interception           Reading from an index for a program whose https ends with us: GET and HEAD,
                         and nothing sent.
- javascript_registries  Registries of npm, pnpm and yarn: `.npmrc`, `.yarnrc` and `.yarnrc.yml` of
                         the person.
- known_registries       Registries that the programs of a project know of, with the network and
                         without.
- listening_ports        The TCP ports on which a program in a sandbox listens, as the kernel tells
                         of them.
- maven_passwords        Passwords of maven that are encrypted, as `settings-security.xml` of the
                         person opens them.
- offline                Runs that fail for what the sandbox has not: the network, or a system to
                         install into.
- other_registries       Registries of maven, gem, bundler and composer, from the person's own
                         files.
- own_config             The person's own configuration of package managers: files of their home,
                         and their variables.
- package_index          Package indexes of the person's pip: asked of pip itself, and made usable
                         in the sandbox.
- packages               The network for packages: the indexes of all usual managers, as the person
                         configured them.
- proxy                  Proxy from the sandbox to the network: CONNECT to the hosts that are
                         allowed, no other.
- relay                  Relay inside the sandbox to `proxy`: a port on its loopback, joined to the
                         socket.
- repeated_logins        Logins that a server repeats in its answer: noticed before a program reads
                         them.
- shared_network         A network that the programs of one project share while one of them runs on
                         in the background.
- variables              Environment variables that tell programs how they stand with the network.
"""

EXPORTS = {
    "known_registries": ["KnownRegistries"],
    "proxy": ["Proxy", "SOCKET_IN_SANDBOX"],
    "shared_network": ["Namespaces", "namespaces_of", "shared_network_of"],
    "variables": ["OFFLINE_VARIABLES", "TRUST_VARIABLES", "place_of_settings"],
}
