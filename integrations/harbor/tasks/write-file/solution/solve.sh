#!/bin/bash
set -e
echo 'Hello, Harbor!' >greeting.txt
