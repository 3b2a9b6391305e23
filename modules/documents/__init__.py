"""Documents: read, checked, made, changed by the page and shown, by a confined process.

- worker/           The confined process that takes documents apart and puts them together.
- check             Checks a document that is to be handed over: opened by a library of its kind,
                    it is whole.
- contained_run     Runs a program of the system on one document, in the sandbox and in a folder
                    that is thrown away.
- feature           Documents in a session: their texts for whoever reads files, their pages, and
                    making them.
- json_outline      A small JSON outline of a document: a title, and parts with a heading and what
                    is below it.
- kinds             The kinds of documents: told by the name of a file and by how it begins.
- libraries         The libraries for documents: which are wanted for what, and the command that
                    brings them.
- making            Making a document out of what the model wrote, and changing one page of one that
                    is there.
- markdown_outline  Markdown as an outline: parsed by markdown-it, citations as its footnotes.
- ocr               OCR of scanned pages by tesseract, where it is installed, in the sandbox.
- office            LibreOffice, where it is installed: turns documents into PDF, in the sandbox.
- outline           What a document is made of, whatever its kind: headings, texts, lists, tables
                    and pictures.
- page_html         A web page of an outline: one file, its pictures in it, that asks for nothing
                    elsewhere.
- previews          Previews of documents: a picture of each page with its text, kept by content.
- problems          What is wrong with a document, in sentences for people and models.
- reader            Text of documents for whoever reads files: with the scanned pages read by OCR
                    where that is.
- worker_messages   Messages between the worker and who starts it: a line of JSON, and files behind
                    it.
- worker_process    Runs the worker that takes documents apart and puts them together, confined.
"""

EXPORTS = {
    "check": ["check_document"],
    "feature": ["Documents"],
    "kinds": ["MAX_DOCUMENT_BYTES"],
}
