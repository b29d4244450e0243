#!/usr/bin/env bash
# jruby.sh: checks that on JRuby the gem can be installed and loaded, that it
# reports why it does not profile, and that its methods do nothing.
source "$(dirname "$0")/common.sh"
reason="jruby is not supported: profiling needs CRuby"
export GEM_HOME=$work/home GEM_PATH=$work/home JRUBY_OPTS=--dev

jruby -S gem install --local --force --no-document build/spanprof.gem > "$work/installed" 2>&1 ||
  fail "$(cat "$work/installed")"
grep -rqx "$reason" --include=skipped_reason.txt "$GEM_HOME" || fail "the installation says: $(cat "$work/installed")"

cat > "$work/app.rb" << 'EOF'
require "pyroscope"
require "pyroscope/otel"
p Spanprof.available?, Spanprof.unavailable_reason, Spanprof.stats
p Spanprof.start(application_name: "inert"), Spanprof.label(a: "b") { 42 }
p Pyroscope.configure { |config| config.application_name = "inert" }.class
p Pyroscope.tag_wrapper({ "a" => "b" }) { 43 }
p Pyroscope::Otel::SpanProcessor.new("inert.cpu", "http://127.0.0.1:9").force_flush(timeout: 1)
Spanprof.stop
EOF
jruby "$work/app.rb" > "$work/out" 2> "$work/err" || fail "$(cat "$work/out" "$work/err")"
diff - "$work/out" << EOF
false
"$reason"
{}
false
42
FalseClass
43
0
EOF
grep -qx "spanprof: not profiling: $reason" "$work/err" || fail "its messages are: $(cat "$work/err")"
jruby -v
echo "$reason"
