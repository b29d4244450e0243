#!/bin/sh
# package.sh WORK FILE: writes the built page to FILE, for what is packed with
# it (gem, package). SPANPROF_PAGE_FILE is one that was built before; else npm
# builds it in WORK. Where neither is to be had, FILE is not written, a sentence
# says so, and the rest is packed: `spanprof report --html` will say it again.
set -eu
work=$1 file=$2
here=$(cd "$(dirname "$0")" && pwd)

without() {
  echo "No page is packed: $1." >&2
  rm -f "$file"
  exit 0
}

mkdir -p "$(dirname "$file")" "$work"
if [ -n "${SPANPROF_PAGE_FILE:-}" ]; then
  cp "$SPANPROF_PAGE_FILE" "$file"
  exit
fi
node=$(command -v node || command -v nodejs) || without "node is not there (Debian: nodejs npm)"
command -v npm > /dev/null || without "npm is not there (Debian: nodejs npm)"
rm -rf "$work/src"
cp -r "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$here/build.mjs" "$here/src" "$work"
if ! cmp -s "$here/package-lock.json" "$work/node_modules/.spanprof-lock"; then
  (cd "$work" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --fetch-retries=1 \
    --fetch-timeout=60000 > npm.txt 2>&1) || without "npm ci failed, $work/npm.txt says why"
  cp "$here/package-lock.json" "$work/node_modules/.spanprof-lock"
fi
(cd "$work" && "$node" build.mjs page.html)
mv "$work/page.html" "$file"
