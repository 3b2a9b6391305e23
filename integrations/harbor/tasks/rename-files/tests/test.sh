#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
printf '%s\n' 'pictures/a b.jpg' pictures/notes.txt pictures/old/c.jpg pictures/old/d.jpg >/tmp/wanted
cd /app
find pictures -type f | LC_ALL=C sort | cmp - /tmp/wanted
echo 1 >/logs/verifier/reward.txt
