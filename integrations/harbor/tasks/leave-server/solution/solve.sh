#!/bin/bash
set -e
setsid nohup python3 -m http.server 18642 --bind 127.0.0.1 --directory site >/tmp/server.log 2>&1 </dev/null &
for _ in $(seq 100); do
    if curl -sf http://127.0.0.1:18642/ >/dev/null; then exit 0; fi
    sleep 0.1
done
exit 1
