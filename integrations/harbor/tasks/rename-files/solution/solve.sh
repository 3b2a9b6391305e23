#!/bin/bash
set -e
find pictures -name '*.jpeg' | while IFS= read -r path; do mv "$path" "${path%.jpeg}.jpg"; done
