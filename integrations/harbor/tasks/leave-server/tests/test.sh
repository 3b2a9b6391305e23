#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
python3 -c '
from urllib.request import urlopen
with urlopen("http://127.0.0.1:18642/index.html", timeout=10) as answer:
    assert answer.read() == b"<p>Here.</p>\n"
'
echo 1 >/logs/verifier/reward.txt
