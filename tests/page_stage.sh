# shellcheck shell=bash
# Sourced by stage.sh: the page, by its types, its linter and in a real Chromium
# in front of a real server.

# page_once: build/page/page.html, which every build but dev's takes; dev makes
# its own, as users do.
page_once() {
  mkdir -p build/page
  flock build/page cmake -DNPM="$(command -v npm)" -DNODE="$(command -v node || command -v nodejs)" -DSOURCES="$PWD/core/page" \
    -DWORK="$PWD/build/page/npm" -DPAGE="$PWD/build/page/page.html" -P core/page/build_page.cmake
}

# A copy, so that nothing is written beside the sources.
page_copy() {
  mkdir -p build/page/check
  rm -rf build/page/check/{src,test}
  cp -r core/page/{src,test,package.json,package-lock.json,.npmrc,tsconfig.json,eslint.config.js,build.mjs} build/page/check
  cd build/page/check || return
  npm ci --ignore-scripts --no-audit --no-fund
}

page_npm() {
  cd build/page/check || return
  npm run --silent "$@"
}

stage_page() {
  local file built=$PWD/build/dev/core/command
  export SPANPROF_SERVER=$built/spanprof-server SPANPROF_COMMAND=$built/spanprof

  build dev spanprof_server spanprof_command
  check page-built 0 test -s build/dev/core/page/page.html
  check page-picture-size 0 test "$(stat -c %s core/docs/page.png)" -le 150000
  check page-packages 0 page_copy
  [ ! -s "$failures" ] || return 1
  check page-lint 0 page_npm check
  for file in build/page/check/test/*.test.ts; do
    file=$(basename "$file" .test.ts)
    lane check "page-$file" 600 npm --prefix build/page/check run --silent test "$file"
  done
  lanes_end
}
