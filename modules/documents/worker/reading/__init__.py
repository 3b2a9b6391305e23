"""Text out of documents, by kind, with marks for pages, slides, sheets and cells.

- box_font       A font for the characters of a PDF whose own font it only names, as some for
                 Chinese do.
- charts         Numbers of the charts of Word, Excel and PowerPoint, which stand in parts of their
                 own.
- diagrams       Text of the diagrams (SmartArt) of Word and PowerPoint, which stand in parts of
                 their own.
- epub           Text of an EPUB: its chapters in the order in which they are read.
- notebook       Text of a Jupyter notebook: its cells and what they put out.
- open_document  Text of OpenDocument files: of a writer, of slides, of sheets.
- pdf            Text of a PDF, by page.
- pdf_annotations
                 What stands on a page of a PDF beside its text: fields of forms, as filled in,
                 and comments.
- sheets         Text of an Excel workbook: sheet by sheet, row by row, values with the formulas
                 behind them.
- slides         Text of a PowerPoint presentation: slide by slide, in their order, with notes and
                 tables.
- stray_cells    Cells far from the others in a row of a sheet: with their column, not behind a
                 line of bars.
- texts          The text of a document of any kind, as lines with marks for its pages, slides,
                 sheets, cells.
- word           Text of a Word document: headings, paragraphs, tables, notes, headers, diagrams,
                 charts.
"""

EXPORTS = {
    "box_font": ["draw_with"],
    "pdf": ["opened", "page_text"],
    "sheets": ["opened"],
    "slides": ["opened"],
    "word": ["blocks_of", "heading_level", "heading_levels", "paragraph_text"],
    "texts": ["document_lines", "import_reader"],
}
