#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
cd /app
test "$(git log --format=%s)" = Begin
test -z "$(git status --porcelain)"
git cat-file -e HEAD:main.c
test -z "$(git ls-tree -r --name-only HEAD build)"
echo 1 >/logs/verifier/reward.txt
