# frozen_string_literal: true

# Measures what spanprof's processor and hook add to the cost of a span of
# OpenTelemetry's SDK, compared with a processor that does nothing: CPU time of the
# thread, and allocated objects, in alternating processes.
require_relative "peers"

PROCESSES = Bench.choose(9, 1)
KINDS = %w[empty empty_again root_only id url baseline].freeze

peers = Peers.names(Peers::WITH_SPANS)
found = Peers.turns("span_cost_of.rb", KINDS, peers + Peers.names(%w[pyroscope]).map { |peer| "#{peer}:all" }, PROCESSES)
peers &= found.keys
at = ->(kind, key) { found[kind].map { |values| values.fetch(key.to_s) } }
found.each_key do |kind|
  Bench.say format("%-12s ns: root %s, child %s, objects %.1f and %.1f", kind, Bench.spread(at[kind, :root_ns], "%.0f"),
                   Bench.spread(at[kind, :child_ns], "%.0f"), Bench.median(at[kind, :root_objects]),
                   Bench.median(at[kind, :child_objects]))
end
# @return [Float] microseconds more than with the processor that does nothing
over = ->(kind, key) { (Bench.median(at[kind, key]) - Bench.median(at["empty", key])) / 1000.0 }
objects = ->(kind, key) { Bench.median(at[kind, key]) - Bench.median(at["empty", key]) }
control = format("control %+.2f us", over["empty_again", :root_ns])
cost = ->(kind, what) { format("%+.2f us, %+.1f", over[kind, :"#{what}_ns"], objects[kind, :"#{what}_objects"]) if found[kind] }
root = over["root_only", :root_ns]
made = objects["root_only", :root_objects]
Bench.bar("span over an empty processor: root with id and URL", format("%+.2f us, %+.1f objects", root, made),
          "<= 2.5 us, <= 5", Peers.comparison(control, peers) { |peer| cost[peer, :root] }, root <= 2.5 && made <= 5)
child = over["id", :child_ns]
Bench.bar("child with its own id", format("%+.2f us", child), "<= 1.5 us",
          Peers.comparison(format("with its URL %+.2f us", over["url", :child_ns]), peers) do |peer|
            cost[peer == "pyroscope" ? "pyroscope:all" : peer, :child]
          end, child <= 1.5)
Bench.bar("root with baseline and diff URLs too", format("%+.2f us, %+.1f objects", over["baseline", :root_ns],
                                                         objects["baseline", :root_objects]), "none", "", true)
Bench.bar("child under a root's id", format("%+.2f us", over["root_only", :child_ns]), "none",
          Peers.comparison("", peers & %w[pyroscope]) { |peer| cost[peer, :child] }, true)
Bench.done
