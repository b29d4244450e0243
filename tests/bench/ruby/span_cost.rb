# frozen_string_literal: true

# What a span of the SDK costs more with our processor and hook, than with a
# processor that does nothing: CPU time of the thread, in processes that take
# turns, and objects.
require_relative "bench"
require "json"

PROCESSES = Bench.choose(9, 1)
KINDS = %w[empty empty_again root_only id url baseline].freeze

found = Hash.new { |hash, kind| hash[kind] = [] }
PROCESSES.times { KINDS.each { |kind| found[kind] << JSON.parse(Bench.program("span_cost_of.rb", kind), symbolize_names: true) } }
at = ->(kind, key) { found[kind].map { |values| values.fetch(key) } }
KINDS.each do |kind|
  Bench.say format("%-12s ns: root %s, child %s, objects %.1f and %.1f", kind, Bench.spread(at[kind, :root_ns], "%.0f"),
                   Bench.spread(at[kind, :child_ns], "%.0f"), Bench.median(at[kind, :root_objects]),
                   Bench.median(at[kind, :child_objects]))
end
# @return [Float] microseconds over the empty processor
over = ->(kind, key) { (Bench.median(at[kind, key]) - Bench.median(at["empty", key])) / 1000.0 }
objects = ->(kind, key) { Bench.median(at[kind, key]) - Bench.median(at["empty", key]) }
control = format("control %+.2f us", over["empty_again", :root_ns])
root = over["root_only", :root_ns]
made = objects["root_only", :root_objects]
Bench.bar("span over an empty processor: root with id and URL", format("%+.2f us, %+.1f objects", root, made),
          "<= 2.5 us, <= 5", "#{control}; pyroscope-otel +24 us, 50 objects", root <= 2.5 && made <= 5)
child = over["id", :child_ns]
Bench.bar("child with its own id", format("%+.2f us", child), "<= 1.5 us",
          format("with its URL %+.2f us; pyroscope-otel +26 us", over["url", :child_ns]), child <= 1.5)
Bench.bar("root with baseline and diff URLs too", format("%+.2f us, %+.1f objects", over["baseline", :root_ns],
                                                         objects["baseline", :root_objects]), "none", "", true)
Bench.bar("child under a root's id", format("%+.2f us", over["root_only", :child_ns]), "none", "pyroscope-otel +1.0 us", true)
Bench.done
