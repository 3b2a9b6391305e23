#!/bin/bash
set -e
sed -i 's/len(numbers) + 1/len(numbers)/' mean.py
