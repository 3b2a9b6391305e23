"""Results: files that a task hands over, which were opened before, with their versions.

- archives      Looking at archives and packed files that are handed over as data: whole, and not
                empty.
- data_formats  Looking at data and pages: CSV, JSON, JSON lines, notebooks, SQLite, HTML and SVG.
- feature       Results in a session: handed over by the model or declared by the person.
- opening       Opening a file that is to be handed over: what it holds, or why it is no result.
- previews      What a result looks like: pages as pictures, else the beginning of its text.
- records       Results as a session keeps them, and what follows from a rename.
"""

EXPORTS = {
    "feature": ["STATE", "Results"],
    "opening": ["Opener"],
    "records": ["Result"],
}
