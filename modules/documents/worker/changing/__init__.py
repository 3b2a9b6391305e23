"""Changes of one part of a document, after which all others are as they were.

- changers  Changers of one part, by kind; all that they need is loaded before the process is
            confined.
- formula_results
            Results of formulas that look at a changed sheet: those that the file keeps would be
            old.
- section   Changes one section of a Word document: what is below one heading, up to the next like
            it.
- sheet     Changes one sheet of an Excel workbook: its cells; their formats, and all other sheets,
            stay.
- slide     Changes one slide: its title, its text, its tables go; its look and its pictures stay.
"""

EXPORTS = {"changers": ["change", "prepare_changer"]}
