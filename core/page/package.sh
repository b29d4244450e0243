#!/bin/sh
# package.sh WORK FILE: writes the built page to FILE, for the gem and the Python
# package. SPANPROF_PAGE_FILE names a page that is already built; otherwise npm builds it
# in WORK. Without npm, prints a message and does not write FILE: the package then has no
# page, and `spanprof report --html` reports this.
set -eu
work=$1 file=$2
here=$(cd "$(dirname "$0")" && pwd)

without() {
  echo "Packing without the web page: $1." >&2
  rm -f "$file"
  exit 0
}

mkdir -p "$(dirname "$file")" "$work"
if [ -n "${SPANPROF_PAGE_FILE:-}" ]; then
  cp "$SPANPROF_PAGE_FILE" "$file"
  exit
fi
node=$(command -v node || command -v nodejs) || without "node is missing (Debian: nodejs npm)"
command -v npm > /dev/null || without "npm is missing (Debian: nodejs npm)"
rm -rf "$work/src"
cp -r "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$here/build.mjs" "$here/src" "$work"
if ! cmp -s "$here/package-lock.json" "$work/node_modules/.spanprof-lock"; then
  (cd "$work" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --fetch-retries=1 \
    --fetch-timeout=60000 > npm.txt 2>&1) || without "npm ci failed; see $work/npm.txt"
  cp "$here/package-lock.json" "$work/node_modules/.spanprof-lock"
fi
(cd "$work" && "$node" build.mjs page.html)
mv "$work/page.html" "$file"
