"""Bringing in a conversation that another program, or another Onefold, kept in a JSON file.

- importer        Bringing in a conversation that another program, or another Onefold, kept in a
                  JSON file.
- matching        Matching answers to calls, where ids lack, repeat or stand in the wrong place.
- mending         Messages of an old conversation, whatever they lack, as records that any request
                  may begin with.
- message_reader  Reading messages that lack this or that: roles, texts, calls and their arguments.
- old_messages    Entries of an old conversation, and the repairs that it may need.
- source          The file of an old conversation, and the list of messages in it.
"""
