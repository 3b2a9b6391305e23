"""The confined process that takes documents apart and puts them together.

- changing/  Changes of one part of a document, after which all others are as they were, byte for
             byte.
- making/    Documents out of outlines, by kind.
- reading/   Text out of documents, by kind, with marks for pages, slides, sheets and cells.
- archives   Archives that documents are: refused where unpacking them could do harm.
- checking   Checks of a document that is to be handed over: whole, not empty, and all text on its
             page.
- font_files The files of the fonts of this machine.
- jobs       The jobs of the worker: each by its name, with what must be imported before it is
             confined.
- main       Works on one document in a process of its own that can do nothing else.
- problems   Problems of a document, as the worker tells them: a code, and values for the sentence.
- rendering  Pages of a PDF as pictures, each with its text.
- slide_fit  Whether text fits on a slide: about how high it is, by the widths of usual letters.
- xml        XML of a document, parsed so that nothing in it is followed: no entity, no DTD, no
             address.
"""

EXPORTS: dict[str, list[str]] = {}
