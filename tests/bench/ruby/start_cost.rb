# frozen_string_literal: true

# Measures the CPU time and memory of loading and starting the profiler, compared with
# loading libcurl alone, in separate processes.
require_relative "peers"

PROCESSES = Bench.choose(7, 2)
KINDS = %w[none curl ours].freeze

found = Peers.turns("start_cost_of.rb", KINDS, Peers.names, PROCESSES)
at = ->(kind, key) { Bench.median(found[kind].map { |values| values.fetch(key) }) }
found.each_key { |kind| Bench.say format("%-9s %.1f ms of CPU, %.1f MiB", kind, at[kind, "cpu_ms"], at[kind, "mib"]) }
added = ->(kind) { %w[cpu_ms mib].map { |key| at[kind, key] - at["none", key] } }
comparison = Peers.comparison(format("libcurl alone %.1f ms, %.1f MiB", *added["curl"]), found.keys - KINDS) do |peer|
  format("%.1f ms, %.1f MiB", *added[peer])
end
Bench.bar("require and start, with OpenTelemetry there", format("%.1f ms of CPU, %.1f MiB", *added["ours"]), "<= 40 ms",
          comparison, added["ours"].first <= 40)
Bench.done
