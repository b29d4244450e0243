#!/usr/bin/env bash
# gem_contents.sh RUBY: checks that the gem contains exactly the files that are
# listed here.
source "$(dirname "$0")/common.sh"
export LC_ALL=C

{
  printf '%s\n' .yardopts CHANGELOG.md LICENSE MIGRATION.md README.md
  (cd ruby && find lib sig exe -type f 2> /dev/null || true)
  echo ext/spanprof/extconf.rb
  find core/include core/src core/command core/page/*.[ch] core/formats bindings/common bindings/ruby \( -name '*.[ch]' -o -name '*.map' \) \
    ! -path core/command/main.c | sed 's|^|ext/spanprof/vendor/|'
  printf 'ext/spanprof/vendor/%s\n' swig/{control,option_values,stats_fields}.h swig/lang/ruby_values.h \
    generated/{profile,push}.pb-c.{c,h} generated/spanprof_wrap_rb.c
  # The page, which npm builds if it is installed.
  ! command -v npm > /dev/null || echo ext/spanprof/vendor/core/page/page.html
} | sort > "$work/expected"
tar -xOf build/spanprof.gem data.tar.gz | tar -tz | sort > "$work/found"
diff -u "$work/expected" "$work/found" || fail "The gem has unexpected files (+) or misses expected ones (-)."
grep -qE '^lib/(spanprof|pyroscope)\.rb$' "$work/found"
if grep -E '\.(o|so|i|rbc|log)$' "$work/found"; then
  fail "The gem contains build products."
fi
if tar -xOf build/spanprof.gem data.tar.gz | tar -xzO | grep -aF "$top"; then
  fail "The gem contains the path of this checkout."
fi
echo "$(wc -l < "$work/found") files, $(stat -c %s build/spanprof.gem) bytes"
