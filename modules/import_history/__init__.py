"""Bringing in a conversation that another program, or another Onefold, kept in a JSON file.

- importer        Import of a conversation that another program, or another Onefold, kept in a JSON
                  file.
- matching        Matching of answers to calls, where ids are missing, repeated or misplaced.
- message_reader  Reader of incomplete messages: roles, texts, calls and their arguments.
- old_messages    Entries of an old conversation, and the repairs that it may need.
- repair          Repair of an old conversation's messages into records that any request may begin
                  with.
- source          The file of an old conversation, and the list of messages in it.
"""

EXPORTS = {
    "importer": ["import_history"],
}
