"""The core: turns, history, tools and commands, with no SDK, no socket and no colour.

- conversation/   The conversation: its records, what of them is sent, and how it is kept.
- loop/           The loop: one turn from the message to the last word, and who must be asked on the
                  way.
- cards           How a piece of work wishes to look. Each screen draws each card once.
- command_table   The slash commands of a session by name: ours, and those of the person and of the
                  project.
- commands        The slash commands of the terminal itself: text in, cards out, the same on both
                  screens.
- cost_features   The features of a session that see to what it costs, asked as one.
- events          Everything that happens in a turn, in the order it happens.
- feature         A feature: one subject of the product, with all that it brings to a session in one
                  class.
- feature_set     The features of a session, asked as one: who implements which hook is found out
                  once.
- hook_members    Which features implement which hook, read off their bases.
- hooks           The hooks of features: each names one thing that a feature may take part in.
- main_terminal   The terminal: one conversation about one project folder.
- model_choice    The choice of a model, and what is said of its server: the same for every screen.
- observer        Observer of a terminal at work, without a part in it.
- redaction       Texts that must not be seen as they are, changed wherever they stand in a value.
- session         The session that a terminal is in: begun, resumed, gone back in, left.
- session_choice  Choosing among sessions by a number, where ids are shown to a person.
- tool_aliases    Calls under the names of other agents' tools, understood where they can mean only
                  one thing.
- tool_spec       Declaration of a tool: all that the rest of the product has to know of it, said
                  once.
- tool_switches   Switches of the tools: which of those there are the model is offered.
- tool_texts      Texts of the tools: what a model is told of them, to the letter, in each protocol.
- tools           Tools: how a method becomes something a model may call.
- web_terminal    The terminal behind a browser: the same turns, numbered and streamed.
"""

EXPORTS = {
    "cards": [
        "Alarm",
        "Card",
        "Change",
        "DiffCard",
        "Hit",
        "LineOrigin",
        "LineReceipt",
        "Link",
        "LinksCard",
        "MACHINE_PLACE",
        "OUTSIDE_PLACE",
        "OriginsCard",
        "PromptCard",
        "PromptPart",
        "PromptSource",
        "RESULT_NAMES",
        "ResultCard",
        "ResultKind",
        "RunCard",
        "RunPicture",
        "SearchCard",
        "TableCard",
        "TextCard",
        "Todo",
        "TodoCard",
        "TreeCard",
        "TreeEntry",
        "WrittenBy",
    ],
    "commands": ["MODE_LABELS", "Commands", "must_wait_message"],
    "events": [
        "ApprovalAsked",
        "CHECK_CALL",
        "CallDrafted",
        "CommandAnswered",
        "EndReason",
        "Event",
        "FAILED_STEP_CALL",
        "HelperEvent",
        "HelperStep",
        "Informed",
        "PLAN_CALL",
        "PersonQuestion",
        "Reply",
        "Retrying",
        "StepFinished",
        "StepStarted",
        "TextDelta",
        "ThinkingDelta",
        "ThinkingFinished",
        "ThoughtKept",
        "ToolFinished",
        "ToolOutput",
        "ToolStarted",
        "TurnFinished",
        "TurnStarted",
        "Waiting",
        "Warned",
    ],
    "feature": [
        "Answer",
        "BrokenFiles",
        "CallsOfMessage",
        "Command",
        "CommandSpec",
        "Decided",
        "EndDecision",
        "Feature",
        "HookEvent",
        "HookVerdict",
        "OwnTurn",
        "PlannedCheck",
        "PostRunConfirmation",
        "PromptCommand",
        "Question",
        "Section",
        "SessionHandle",
        "buttons_of",
        "command",
        "name_of",
    ],
    "feature_set": ["CHANGING_RISKS"],
    "hooks": [
        "AsksAgain",
        "AsksAtEnd",
        "AsksPerson",
        "BeginsWithTurns",
        "BindsToSession",
        "CallsForMessages",
        "ConfinesRuns",
        "ConfirmsCalls",
        "DecidesFailures",
        "FinishesTurns",
        "FlagsCalls",
        "FollowsFiles",
        "FollowsForks",
        "FollowsSession",
        "HoldsResources",
        "KeepsPlans",
        "KeepsState",
        "LimitsSpending",
        "MarksProgress",
        "OffersCommands",
        "OffersTools",
        "PreparesContext",
        "PreparesTurns",
        "PreviewsCalls",
        "ProposesCommands",
        "ProvesWork",
        "ProvidesContext",
        "ProvidesNews",
        "ProvidesStatus",
        "ProvidesWarnings",
        "RecordsCalls",
        "RecordsPerson",
        "RedactsText",
        "RemembersWork",
        "RestsAfterTurns",
        "RoutesTasks",
        "RunsForPerson",
        "RunsHooks",
        "WeighsThinking",
    ],
    "main_terminal": ["MainTerminal"],
    "model_choice": ["described", "is_served", "served"],
    "observer": ["Observer"],
    "redaction": ["TextTransform", "map_strings"],
    "session": ["NamedModel"],
    "session_choice": ["SessionChoice", "format_time", "turn_count"],
    "tool_aliases": ["names_meant"],
    "tool_spec": ["OUTSIDE", "OtherNames", "ToolSpec", "first_line"],
    "tool_switches": ["ToolSwitches"],
    "tool_texts": [
        "NATIVE",
        "definition_tokens",
        "definitions_text",
        "protocol_named",
        "protocol_names",
    ],
    "tools": [
        "Outcome",
        "ProgramArgument",
        "Risk",
        "RunningTool",
        "Tool",
        "ToolError",
        "Toolbox",
        "run_to_end",
        "tool",
    ],
    "web_terminal": ["TurnSuspended", "WebTerminal"],
}
