"""MCP client: servers of tools, resources and prompts, confined like the model.

- connection/      Connections to servers: programs and addresses, and what comes of a request.
- sign_in/         Sign-in to servers by OAuth.
- answers          Answers of servers, bounded, and marked as nobody's orders.
- bounded_stream   Bodies of answers by HTTP, bounded.
- bounds           Bounds of what a server may send, over whichever transport.
- client_thread    The thread in which the SDK's event loop runs: nothing of asyncio is elsewhere.
- config           Configuration of servers: the person's own file and the project's.
- config_names     Names of the files of configuration, for who only looks whether there is one.
- failures         Failures of servers, in words for people.
- feature          MCP servers of a session: their tools, resources and prompts, and `/mcp`.
- listing          Listing of a server: what it offers, as it said last, kept for later sessions.
- prompts          Prompts of servers as commands of the person's.
- server_calls     Calls of tools and resources: what was answered, and what became of the files.
- server_cards     Cards of `/mcp`: the servers, and one of them with its tools.
- server_tools     Tools of servers as tools of ours, with a risk that is not theirs.
- servers          The servers of a project: read, asked about, started, ended.
- tool_search      Finding and calling tools of servers that are not in the model's list.
"""

EXPORTS = {
    "feature": ["McpServers", "join_names"],
}
