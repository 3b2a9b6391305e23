"""MCP client: servers of tools, resources and prompts, confined like the model.

- addresses          Addresses that a server may name for its sign-in.
- answers            Answers of servers, bounded, and marked as nobody's orders.
- bounded_stream     Bodies of answers by HTTP, bounded.
- client_thread      The thread in which the SDK's event loop runs: nothing of asyncio is elsewhere.
- config             Configuration of servers: the person's own file and the project's.
- config_names       Names of the files of configuration, for who only looks whether there is one.
- connection         Connection to a server with the official SDK, which is loaded with it.
- failures           Failures of servers, in words for people.
- feature            MCP servers of a session: their tools, resources and prompts, and `/mcp`.
- launcher           Start of a server's program, in the sandbox unless the person says otherwise.
- listing            Listing of a server: what it offers, as it said last, kept for later sessions.
- oauth              Sign-in by OAuth with the official SDK: the link, the tokens, their renewal.
- pending_call       A request to a server that a turn waits for, and what comes of it on the way.
- program            A server's program: started in the sandbox, its lines, its floods ended.
- questions          What a server wants to know of the person, put as questions of ours.
- redirect_listener  Listener on loopback for the browser that comes back from a sign-in.
- server_tools       Tools of servers as tools of ours, with a risk that is not theirs.
- servers            The servers of a project: read, asked about, started, ended.
- sign_ins           Sign-ins to servers: begun by the person, ended by the browser or the time.
- tokens             Tokens of servers that the person signed in to, a file for each address.
- tool_search        Finding and calling tools of servers that are not in the model's list.
- transports         The streams of a program, and those of a server behind an address.
"""

EXPORTS = {
    "feature": ["McpServers", "join_names"],
}
