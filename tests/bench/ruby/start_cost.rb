# frozen_string_literal: true

# CPU and memory of requiring and starting, beside what libcurl takes by itself,
# in processes of their own.
require_relative "bench"
require "json"

PROCESSES = Bench.choose(7, 2)
KINDS = %w[none curl ours].freeze

found = Hash.new { |hash, kind| hash[kind] = [] }
PROCESSES.times { KINDS.each { |kind| found[kind] << JSON.parse(Bench.program("start_cost_of.rb", kind)) } }
at = ->(kind, key) { Bench.median(found[kind].map { |values| values.fetch(key) }) }
KINDS.each { |kind| Bench.say format("%-5s %.1f ms of CPU, %.1f MiB", kind, at[kind, "cpu_ms"], at[kind, "mib"]) }
ms = at["ours", "cpu_ms"] - at["none", "cpu_ms"]
curl = format("libcurl alone %.1f ms, %.1f MiB", at["curl", "cpu_ms"] - at["none", "cpu_ms"], at["curl", "mib"] - at["none", "mib"])
Bench.bar("require and start, with OpenTelemetry there", format("%.1f ms of CPU, %.1f MiB", ms, at["ours", "mib"] - at["none", "mib"]),
          "<= 40 ms", "#{curl}; datadog 400 ms, pyroscope 25 ms", ms <= 40)
Bench.done
