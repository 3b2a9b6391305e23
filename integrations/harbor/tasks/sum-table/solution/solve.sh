#!/bin/bash
set -e
python3 - <<'END'
import csv, json
totals = {}
for row in csv.DictReader(open("sales.csv")):
    totals[row["region"]] = totals.get(row["region"], 0) + int(row["amount"])
json.dump(totals, open("totals.json", "w"))
END
