#!/bin/bash
set -e
awk '$2 == "ERROR"' server.log | cut -c12-13 | sort | uniq -c | awk '{print $2, $1}' >errors.txt
