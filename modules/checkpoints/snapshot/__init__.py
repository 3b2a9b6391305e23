"""Snapshots: looking at the folder, and what differs between two looks.

- diff              Finding one's way in snapshots, and what differs between two of them.
- dirfd             Work on files beneath one open folder, following no symbolic link on the way.
- entries           What a snapshot remembers of a folder: one `Entry` for every file, link and
                    folder in it.
- metadata          What a file or folder has beside content, mode and times: owner, attributes,
                    access lists.
- reader            Reading the files that a look at the folder found new or changed, and keeping
                    what they hold.
- scanner           Reading the project folder: what is as it was is not read again, only looked at.
- temporary_access  Reading what is ours although its mode does not let us; it gets that back.
"""
