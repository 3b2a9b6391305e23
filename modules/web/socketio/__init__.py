"""Socket.IO: who is connected, and what they may ask.

- handlers  Socket.IO: every handler hands on to a desk and answers with what that returns.
- rooms     Who is connected, and who follows which session: the rooms of Socket.IO, for several
            threads.
"""
