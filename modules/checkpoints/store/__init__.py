"""The store: contents by their digest, the index of snapshots, locks and repair.

- batch_writer    Writing many small contents into the object store quickly.
- compression     Compression of stored contents, where it pays; a byte before each says whether it
                  is.
- gc              Garbage collection: removing old snapshots and the contents that only they need.
- heartbeat       The heartbeat of calls: tells after a kill until when they may have changed
                  files.
- index           Index of the store: snapshots, undos under way, and the record of each call and
                  each undo.
- loose_objects   Loose objects: large contents, each a compressed file of its own, named by its
                  digest.
- object_store    Content-addressed object store: contents by SHA-256, compressed, each once,
                  checked when read.
- outer_links     Outer links: files of the project that have names outside it too.
- project_lock    Lock on the project folder: one Onefold changes it at a time, and others are told
                  which.
- quotas          Quotas of the checkpoint store, and the sentences for what exceeded one.
- schema          Schema of a checkpoint store, and the migrations of older ones.
- store_lock      The lock that keeps others out of a store of checkpoints while one changes it.
- store_recovery  Recovery of a broken checkpoint store: all that it still holds goes into a new
                  one.
- writings        Writings: what changed the folder beside calls, undos and the person at the page,
                  in order.
"""

EXPORTS = {
    "batch_writer": ["BATCH_SIZE", "BatchWriter"],
    "compression": ["UnreadableObject"],
    "gc": ["collect", "reachable"],
    "heartbeat": ["Heartbeat"],
    "index": [
        "CallRecord",
        "CheckpointIndex",
        "JournalEntry",
        "ScanStamp",
        "Snapshot",
        "UndoRecord",
    ],
    "object_store": ["DamagedObject", "LOOSE_ABOVE", "ObjectStore"],
    "project_lock": ["ProjectLock"],
    "quotas": ["Quotas"],
    "schema": ["reserve_numbers_to"],
    "store_recovery": [
        "INTERRUPTED_UNDO_DAMAGED",
        "is_json_list",
        "is_json_root",
        "is_json_spans",
        "root_from_json",
    ],
    "writings": ["FORGOTTEN", "OTHERS", "PERSON", "Writing", "add_file", "add_span", "writing_of"],
}
