# shellcheck shell=bash
# Sourced by stage.sh: how code looks, and what linters say of it, each with one
# configuration in tests/lint/.

# files PATTERN...: of the checkout, by name or first line, for xargs -0.
files() {
  local pattern names=()

  for pattern in "$@"; do
    names+=(-o -name "$pattern")
  done
  find . \( -path ./build -o -path ./.git -o -name vendor -o -name node_modules \) -prune -o -type f \( "${names[@]:1}" \) -print0
}

# scripts INTERPRETER: files that have no other mark than their first line.
scripts() {
  find . \( -path ./build -o -path ./.git -o -name vendor -o -name node_modules \) -prune -o -type f ! -name '*.*' -print0 |
    xargs -0 grep -lZE "^#!.*[/ ]$1\$" || true
}

clang_format() {
  files '*.c' '*.h' '*.cc' | xargs -0 clang-format --dry-run -Werror
}

# The core as one file, with all that it includes, and each of the bindings'.
clang_tidy() {
  local include=(-Icore/include -Icore/src -Icore -Iswig -Iswig/lang -Ibindings/common -Ibindings/ruby -Ibindings/python) folder

  mkdir -p build/lint
  protoc-c --proto_path=core/proto --c_out=build/lint profile.proto push.proto
  for folder in build/lint $(ruby -rrbconfig -e 'puts RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir")') \
    "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')"; do
    include+=(-isystem "$folder")
  done
  { printf '%s\0' core/src/spanprof_unity.c core/command/command_unity.c; find bindings -name '*.c' -print0; } |
    xargs -0 -n 12 -P 2 sh -c 'clang-tidy --quiet --config-file=tests/lint/clang-tidy "$@" -- '"${include[*]} -std=gnu11 -D_GNU_SOURCE -DSPANPROF_STATIC" tidy
}

# Left out: names from files that are sourced, and text for another shell.
shell_check() {
  { files '*.sh'; scripts '(ba)?sh'; } | xargs -0 shellcheck -e SC1090,SC1091,SC2034,SC2154,SC2015,SC2016
}

ruby_lint() {
  { files '*.rb' '*.ru' '*.gemspec' Rakefile Gemfile; scripts ruby; } | xargs -0 rubocop --config tests/lint/rubocop.yml --cache false
}

# pyflakes has nothing to say but that it cannot follow what only repeats another.
python_lint() {
  mkdir -p build/lint
  { files '*.py'; scripts python3; } > build/lint/python
  xargs -0 pycodestyle --config tests/lint/pycodestyle < build/lint/python
  grep -zvF /pyroscope_io/__init__.py build/lint/python | xargs -0 pyflakes3
}

stage_format() {
  local tool

  for tool in clang_format shell_check python_lint ruby_lint clang_tidy; do
    lane check "format-${tool/_/-}" 0 "$tool"
  done
  lanes_end
}
