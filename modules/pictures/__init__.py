"""Pictures that a model may look at: from a message, or from a file of the project.

- feature        The pictures of the session: kept with it, found again, and handed to the model's
                 client.
- formats        The picture formats that are opened, told by how a file begins, never by its name.
- mentions       Pictures that a message typed in a terminal names by their paths.
- normalization  Normalization of untrusted picture files into pictures that may be kept and sent.
- picture_store  Store of pictures: a folder for each session, a file for each content.
- run_pictures   Pictures that a run has made in the project, for its card.
- worker         Decodes one picture and encodes it anew, in a process of its own that can do
                 nothing else.
"""

EXPORTS = {
    "feature": ["Pictures"],
    "formats": ["MAX_PICTURE_FILE_BYTES", "format_of"],
    "mentions": ["add_mentioned_pictures"],
    "normalization": ["normalize"],
    "picture_store": ["PictureStore"],
    "run_pictures": ["run_pictures"],
}
