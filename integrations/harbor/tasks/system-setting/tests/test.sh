#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
test "$(cat /etc/motd)" = 'Maintenance on Sunday'
grep -Eq '^30[[:space:]]+4[[:space:]]+\*[[:space:]]+\*[[:space:]]+\*[[:space:]]+root[[:space:]]+/app/report.sh$' /etc/cron.d/report
test -x /app/report.sh
echo 1 >/logs/verifier/reward.txt
