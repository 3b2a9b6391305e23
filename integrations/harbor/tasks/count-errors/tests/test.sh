#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
printf '09 2\n11 1\n' | cmp - /app/errors.txt
echo 1 >/logs/verifier/reward.txt
