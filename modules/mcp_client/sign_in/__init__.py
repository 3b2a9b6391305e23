"""Sign-in to servers by OAuth: begun by the person, kept as tokens, renewed by the SDK.

- addresses          Addresses that a server may name for its sign-in.
- oauth              Sign-in by OAuth with the official SDK: the link, the tokens, their renewal.
- redirect_listener  Listener on loopback for the browser that comes back from a sign-in.
- sign_ins           Sign-ins to servers: begun by the person, ended by the browser or the time.
- tokens             Tokens of servers that the person signed in to, a file for each address.
"""

EXPORTS = {
    "oauth": ["TokenAuth"],
    "sign_ins": ["SignIns"],
    "tokens": ["Hide", "TokenFile"],
}
