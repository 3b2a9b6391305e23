#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
test "$(python3 /app/mean.py 1 2 3 6)" = 3.0
test "$(python3 /app/mean.py 5)" = 5.0
echo 1 >/logs/verifier/reward.txt
