#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
python3 -c '
import sqlite3
cursor = sqlite3.connect("/app/shop.db").execute("select * from products order by name")
assert [column[0] for column in cursor.description] == ["name", "cents"]
assert cursor.fetchall() == [("bread", 420), ("milk", 115), ("salt", 29)]
'
echo 1 >/logs/verifier/reward.txt
