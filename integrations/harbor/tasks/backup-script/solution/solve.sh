#!/bin/bash
set -e
cat >backup.sh <<'END'
#!/bin/sh
[ -d "$1" ] || exit 2
exec tar -czf "$2" --exclude='*.tmp' -C "$1" .
END
chmod +x backup.sh
