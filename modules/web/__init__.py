"""The browser screen: pages, sockets and the API around the terminals of open sessions."""
