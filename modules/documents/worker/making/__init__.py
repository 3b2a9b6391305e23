"""Documents out of outlines, by kind.

- fonts        Fonts of this machine for a PDF: found by their files, chosen so that no character is
               missing.
- footnotes    Footnotes of Word documents, which python-docx does not write (ECMA-376, part 1,
               17.11).
- makers       Makers of documents, by kind; all that they need is loaded before the process is
               confined.
- pdf          Makes a PDF of an outline: fonts embedded, footnotes at the bottom of their page.
- pdf_pages    Pages of a PDF that is made: their numbers, and the footnotes of what is on them.
- sheets       Makes an Excel workbook of an outline: a sheet for each part, typed values in its
               tables.
- slide_pages  Which blocks of an outline go on which slide, in letters of which size: never below
               12 points.
- slides       Makes slides of an outline: text that does not fit goes on to one more slide.
- table_columns
               Columns of tables: how wide each is, and which have room beside each other.
- word         Makes a Word document of an outline, with real headings, lists, tables and footnotes.
"""

EXPORTS = {
    "makers": ["make", "prepare_maker"],
    "sheets": ["is_harmless_formula", "typed_value"],
    "slides": ["fill_paragraph", "fill_table", "lines_of"],
    "table_columns": ["column_widths", "even_rows"],
    "word": ["WordWriter"],
}
