"""HTTP: the routes and their arguments, who may come in, and errors.

- app           The Flask application: the table of routes answered, the page, the login.
- auth          Who may come in: a link that works once, a cookie and a key of this run, a token for
                programs.
- errors        What a request is told when it cannot be done.
- idempotency   Commands with ids: however often one is sent, it is done once and answered the same.
- openapi       The description of the API, made from the table of routes itself.
- params        The arguments of a request, read by the signature of what answers it.
- routes        The table of what can be asked over HTTP: one entry makes the route and its
                documentation.
- script_bundle
                Scripts of the page in one, for a page that can fetch none: the modules that one
                needs, joined.
- security      The gate: every request, sockets and static files included, passes here before all
                else.
- static_files  The page's own scripts and styles, under an address that changes whenever one of
                them does.
- stylesheets   Stylesheets with what they import inside: one to fetch, where the checkout has one
                an area.
"""
