#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
python3 -c 'import json; assert json.load(open("/app/totals.json")) == {"north": 42, "south": 7, "west": 15}'
echo 1 >/logs/verifier/reward.txt
