"""The store: contents by their digest, the index of snapshots, locks and repair.

- batch_writer    Getting many small contents into the vault quickly.
- compression     How contents are kept: compressed where that pays, a byte before them saying which
                  it is.
- gc              Collecting what no snapshot needs any more.
- index           The book of snapshots, of undos under way, and of what each call and each undo
                  did.
- loose_objects   Where large contents are kept: each a file of its own, packed, named by its
                  digest.
- object_store    Where contents are kept: by their SHA-256, compressed, each once, checked whenever
                  read.
- project_lock    Who is changing the project folder now: one Onefold at a time, and others are told
                  which.
- quotas          How much checkpoints hold, and what is said of a thing that was too much.
- schema          The tables of a checkpoint store, and how older stores come to have them.
- store_lock      The lock that keeps others out of a store of checkpoints while one changes it.
- store_recovery  Going on with what a broken checkpoint store still holds.
"""
