# frozen_string_literal: true

# Measures the CPU time of operations that profiling should not make slower (fibers,
# threads, the GVL, objects), with and without a session and the processor's hooks, in
# alternating processes.
require_relative "peers"

PROCESSES = Bench.choose(9, 1)
KINDS = %w[none none_again ours].freeze

found = Peers.turns("switch_cost_of.rb", KINDS, Peers.names, PROCESSES)
PEERS = found.keys - KINDS
at = ->(kind, key) { found[kind].map { |values| values.fetch(key) } }
found.fetch("none").first.each_key do |key|
  found.each_key { |kind| Bench.say format("%-8s %-10s %s ns", key, kind, Bench.spread(at[kind, key], "%.0f")) }
end

# Returns the column for comparison: the control, and the difference that each
# alternative makes.
def comparison(control, at, key)
  Peers.comparison(control, PEERS) { |peer| format("%+.0f", Bench.median(at[peer, key]) - Bench.median(at["none", key])) }
end

def row(what, at, key, limit_ns)
  ours, control, again = %w[ours none none_again].map { |kind| Bench.median(at[kind, key]) }
  Bench.bar(what, format("%+.0f ns", ours - control), "<= #{limit_ns} ns",
            comparison(format("of %.0f, control %+.0f", control, again - control), at, key), ours - control <= limit_ns)
end

# Prints a row for an operation that must not become slower: the difference must be
# within the quartiles of the two runs without a profiler.
def unchanged(what, at, key)
  control = at["none", key] + at["none_again", key]
  low, high = [0.25, 0.75].map { |share| Bench.quantile(control, share) }
  ours = Bench.median(at["ours", key])
  Bench.bar(what, format("%.0f ns", ours), format("<= %.0f, without", high), comparison(format("%.0f..%.0f without", low, high), at, key),
            ours <= high)
end

row("fiber resume and yield", at, "fiber", 45)
row("Thread.new.join", at, "thread", 10_000)
unchanged("one release of the GVL", at, "gvl")
unchanged("Object.new", at, "object")
Bench.done
