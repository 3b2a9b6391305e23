"""The API by subject: what a page or a program can ask for.

- agents_api    The API on the board: what works in the project, and how it is answered and stopped.
- artifacts_api
                The API on results: the files that a session handed over, their versions and
                previews.
- changes_api   Routes about the changes of a session: to look at, to accept and to take back.
- devices_api   Routes about the devices that others on the network use this server with.
- files_api     Routes about the files of the project.
- figures_api   The route on what was spent, for charts: tokens, cache hits and cost.
- git_api       The API on git: its state, diffs, branches and log, and what the person does to
                them.
- mentions_api  Routes about what a message names with an `@`.
- model_api     The API on the model of a session and on what its server takes.
- pictures_api  Routes about the pictures of a session.
- preview_api   The API on previews: links to what the jobs of a session serve.
- receipts_api  The route about the receipts of a session: what was run, and whether it still
                stands.
- server_api    Routes about the server itself.
- session_api   Actions of a page or a program in a session: the same over Socket.IO and over HTTP.
- sessions_api  Routes about the stored sessions: the list of them, and one as it is stored.
- settings_api  The API on the settings: what holds, and what holds from the next start on.
- skills_api    The API on skills: listed, looked at, and installed from an archive that a page
                sends.
- symbols_api   The route about the symbols of the project: functions, classes and headings, by
                name.
- shells_api    What pages ask of terminals; they do so over their socket, and only where these are
                on.
- tools_api     The API on the tools of a session: looked at, and tried in the tool tester.
- why_api       The route about where the lines of a file come from.
"""

EXPORTS = {
    "agents_api": ["AgentsApi"],
    "artifacts_api": ["ArtifactsApi"],
    "changes_api": ["ChangesApi"],
    "devices_api": ["DevicesApi"],
    "files_api": ["FilesApi"],
    "figures_api": ["FiguresApi"],
    "git_api": ["GitApi"],
    "mentions_api": ["MentionsApi"],
    "model_api": ["ModelApi"],
    "pictures_api": ["PicturesApi"],
    "preview_api": ["PreviewApi"],
    "receipts_api": ["ReceiptsApi"],
    "server_api": ["ServerApi", "ServerInfo"],
    "session_api": ["SessionApi"],
    "sessions_api": ["DEFAULT_TURNS", "SessionsApi"],
    "settings_api": ["ModelServers", "SettingsApi"],
    "skills_api": ["SkillsApi"],
    "symbols_api": ["SymbolsApi"],
    "shells_api": ["ShellsApi"],
    "tools_api": ["ToolsApi"],
    "why_api": ["WhyApi"],
}
