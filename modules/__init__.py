"""The features that plug into the core, one a file; a feature of several files is a package.

- acp/             The screen of editors: the Agent Client Protocol (ACP) on standard input and
                   output.
- assembly/        Puts together what the command line asks for: the model's client, the project,
                   the screens.
- checks/          The project's checks: found, run at the end of tasks, with receipts and claims
                   held against them
- checkpoints/     Undo for everything that happens to the folder, with or without git.
- cli/             The terminal: options, the dialogue, and `-p` for one task.
- delegation/      Helpers: a turn inside a call of `delegate`.
- depth/           Depth of tasks: what a line says of it, and the rules for that, ours and the
                   person's.
- documents/       Documents: read, checked, made, changed by the page and shown, by a confined
                   process.
- files/           Files of the project: opened, read, told apart and listed, below one folder only.
- git/             Git for the model: commits, with the hooks of the repository, and remotes.
- hooks/           Hooks: programs of the person's and the project's around calls, in the format of
                   other agents.
- import_history/  Bringing in a conversation that another program, or another Onefold, kept in a
                   JSON file.
- instructions/    Instructions of a project: AGENTS.md, found where it counts, told as it is, asked
                   about.
- jobs/            Jobs: programs that run on in the background after the call that started them.
- mcp_client/      MCP client: servers of tools, resources and prompts, confined like the model.
- mcp_server/      The screen of programs: the Model Context Protocol (MCP) on standard input and
                   output.
- mentions/        What a message names with an `@`: a file, a folder, a web page, or a
                   definition in the project.
- memory/          Memory: what every session of a project should know, and what one session is
                   about.
- models/          The servers of models: those on this machine, and what is learnt of each.
- notes/           Notes on files and on lines of them: what they are, where they are now, and what
                   they protect.
- own_commands/    Commands of one's own: files of Markdown, in the format that other agents read as
                   well.
- pictures/        Pictures that a model may look at: from a message, or from a file of the project.
- plans            Plans made in plan mode: one of each session, as a file that the person may read
                   and change.
- practice/        The practice model of `--offline`: no AI, a documented handful of requests, the
                   real tools.
- preview/         Previews: what a job serves inside the sandbox, shown in the person's browser.
- results/         Results: files that a task hands over, which were opened before, with their
                   versions.
- runs/            Runs of programs, around the tools for them: what is watched, and what is told of
                   them.
- sandbox/         Programs of the model, run so that they cannot do more than they should.
- secrets/         Secrets: found, replaced by names before anybody sees them, and put back where
                   they work.
- sent_requests/   Requests as they were sent to the model, kept with each session: their bytes, and
                   when.
- sessions/        The sessions of a project on disk.
- settings/        Settings, for people: shown with where each comes from, and kept in
                   `config.toml`.
- shells/          Shells: the person's own, with a terminal in the page, in the sandbox or outside
                   of it.
- skills/          Skills: how to do a kind of task, written down in the open format of `SKILL.md`.
- spending/        What tasks cost, before and after, and the caps and hours that the person sets.
- stdio_server/    Serving a protocol on standard input and output: what the room of each such
                   protocol needs.
- storage/         SQLite and files for all that Onefold keeps, with every failure explained.
- symbols/         Symbols of a project: functions, classes and headings, found by their names.
- tool_tester/     The tool tester: a call as a model writes it, run, looked at, kept and run again.
- trace/           The trace (`--trace FILE`): turns, steps, calls, commands and helpers as
                   OpenTelemetry spans.
- web/             The browser screen: pages, sockets and the API around the terminals of open
                   sessions.
- why/             Why a line is as it is: who wrote it, in which call, and the words that asked for
                   it.
- agents/          The board of a project: everything that works in it, in every process, and what
                   that does.
- annotations      Notes on files and on lines of them, kept outside the project, staying with what
                   they are on.
- answer_schema    The JSON schema that an answer has to match (`--output-schema`): told, and
                   checked.
- app_context      Everything that all terminals on one project share: its folder, and where its
                   data is kept.
- ask_person       The model's own questions to the person.
- earlier_sessions  Earlier sessions of the project, searchable and readable by the model as by the
                   person.
- export           A session as a file to keep or to pass on: Markdown to read, JSON to work with.
- file_manager     The model's tools for the files and folders of the project.
- focus            Focus: up to three files whose current content the model always has.
- focus_contents   Contents of files in focus: as the model is told them, and as it knows them by
                   its own edits.
- fork             `/fork`: go on from an earlier turn in a session of its own, in a folder of its
                   own if wished.
- history_tool     Turns of earlier in this session, readable by the model like a file.
- keep_json        The conversation as one JSON file after each turn, for other programs to read.
- mass_deletion    A pause before a loss: a run that deleted much, or what no checkpoint holds, is
                   shown to the person before anything goes on.
- memory_manager   Long-term memory: what every session of a project should know, in a file people
                   may edit.
- operations_log   The operations log: what was asked, called, answered, approved and changed, a
                   JSON line each.
- other_project    Beginning a session in another project folder, with what belongs to it.
- outputs          Long results kept whole, so that a cut answer can be read on part by part.
- race/            A race: one task done several times beside each other, and the best result
                   taken.
- phone            `/phone`: the page on a phone. The page shows a code for it; elsewhere it says
                   how.
- project_copies   Copies of the project folder beside it, in which something else works: named,
                   made, opened, gone.
- project_map      The map of the project: its files in a few hundred tokens, told at the first
                   turn.
- prompts          The texts for the model, kept in `prompts/` and filled with `string.Template`.
- search_engine    Web search and page reading through Tavily; the only place that knows its client.
- terminal_ops     The tools that run programs, in the sandbox, and say what these did to the files.
- text_search      The model's tool for finding text in the files of the project.
- todos            The model's plan for a task, kept where the person sees it.
- tool_switches    Tools of the model, looked at and switched on and off: `/tools`. A project keeps
                   the switches.
- toolbox          The features of a session: the one list to add a new one to.
- translator       The translator: the words on screen, in the language of the person.
- tree_map         A tree in a few hundred tokens: which of its files are named, and what came and
                   went since.
- unsaved_edits    Edits that the person's editor shows and has not saved: no call writes past them
                   unasked.
- work_done        What a session has done, as it is known without a model: files, and runs with how
                   they ended.
"""

EXPORTS = {
    "translator": ["Translator"],
}
