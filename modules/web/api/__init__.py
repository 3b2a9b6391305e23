"""The API by subject: what a page or a program can ask for.

- changes_api   What can be asked about the changes of a session: to look at, to accept and to take
                back.
- files_api     What can be asked about files over HTTP.
- model_api     What can be asked about the model of a session and what its server takes.
- pictures_api  What can be asked about the pictures of a session over HTTP.
- server_api    What can be asked about the server itself over HTTP.
- session_api   What a page or a program can do in a session: the same over Socket.IO and over HTTP.
- sessions_api  What a program can ask about the sessions that there are: all of them, and one as it
                is kept.
"""
