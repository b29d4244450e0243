#!/usr/bin/env bash
# gem_locked_down.sh RUBY: checks that a program is profiled, and its profiles
# uploaded, as the user nobody, without a home directory, on a read-only file
# system.
source "$(dirname "$0")/common.sh"
cp -r "$GEM_HOME" "$work/gems"
chmod -R a+rX "$work/gems"
box=("GEM_HOME=$work/gems" "GEM_PATH=$work/gems")

cat > "$work/app.rb" << 'EOF'
require "spanprof"
Spanprof.start(application_name: "locked", server_address: ARGV[0]) or abort Spanprof.unavailable_reason
limit = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 0.5
nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < limit
Spanprof.flush
stats = Spanprof.stats
puts "uid #{Process.uid}: #{stats[:samples_exported]} samples, #{stats[:profiles_sent]} profiles sent"
abort "nothing was sent" unless stats[:profiles_sent].positive? && stats[:samples_exported].positive?
EOF
chmod a+r "$work/app.rb"
run() {
  in_a_box "$(readlink -f "$(command -v "$1")")" "$work/app.rb" "$sink"
}
with_sink run "$1"
