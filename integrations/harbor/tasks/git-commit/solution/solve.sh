#!/bin/bash
set -e
git init -q
echo build >.gitignore
git add .
git -c user.name=a -c user.email=a@example.org commit -qm Begin
