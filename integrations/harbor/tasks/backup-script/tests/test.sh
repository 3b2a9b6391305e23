#!/bin/bash
echo 0 >/logs/verifier/reward.txt
set -e
mkdir -p '/tmp/the data/deep'
echo 1 >'/tmp/the data/deep/a.txt'
echo 2 >'/tmp/the data/b.tmp'
/app/backup.sh '/tmp/the data' /tmp/x.tar.gz
tar -tzf /tmp/x.tar.gz | grep -q 'deep/a.txt$'
test -z "$(tar -tzf /tmp/x.tar.gz | grep tmp$)"
code=0
/app/backup.sh /nowhere /tmp/y.tar.gz || code=$?
test $code = 2
echo 1 >/logs/verifier/reward.txt
