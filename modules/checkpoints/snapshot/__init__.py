"""Snapshots: looking at the folder, and what differs between two looks.

- diff              Lookup in snapshots, and the difference between two of them.
- dirfd             Work on files beneath one open folder, following no symbolic link on the way.
- entries           Entries of a snapshot: one `Entry` for every file, link and folder.
- metadata          Metadata of files beside content, mode and times: owner, extended attributes,
                    access lists.
- reader            Reading the files that a scan found new or changed, and storing their contents.
- scanner           Scanning the project folder: files that did not change are not read again.
- temporary_access  Temporary access to our own files whose mode forbids reading; they get their
                    mode back.
"""
