# frozen_string_literal: true

# What has nothing to do with samples, with a session and the processor's hooks
# and without: fibers, threads, the GVL, objects. CPU time, in processes that
# take turns.
require_relative "bench"
require "json"

PROCESSES = Bench.choose(9, 1)
KINDS = %w[none none_again ours].freeze

found = Hash.new { |hash, kind| hash[kind] = [] }
PROCESSES.times { KINDS.each { |kind| found[kind] << JSON.parse(Bench.program("switch_cost_of.rb", kind)) } }
at = ->(kind, key) { found[kind].map { |values| values.fetch(key) } }
found.fetch("none").first.each_key do |key|
  KINDS.each { |kind| Bench.say format("%-8s %-10s %s ns", key, kind, Bench.spread(at[kind, key], "%.0f")) }
end

def row(what, at, key, beside, limit_ns)
  ours, control, again = %w[ours none none_again].map { |kind| Bench.median(at[kind, key]) }
  Bench.bar(what, format("%+.0f ns", ours - control), "<= #{limit_ns} ns", format("of %.0f, control %+.0f; %s", control, again - control, beside),
            ours - control <= limit_ns)
end

# Within the quartiles of what runs without us, of both turns.
def unchanged(what, at, key, beside)
  control = at["none", key] + at["none_again", key]
  low, high = [0.25, 0.75].map { |share| Bench.quantile(control, share) }
  ours = Bench.median(at["ours", key])
  Bench.bar(what, format("%.0f ns", ours), format("<= %.0f, without", high), format("%.0f..%.0f without; %s", low, high, beside),
            ours <= high)
end

row("fiber resume and yield", at, "fiber", "datadog +43, vernier +530", 45)
row("Thread.new.join", at, "thread", "datadog +17,000 to 45,000", 10_000)
unchanged("one release of the GVL", at, "gvl", "datadog +127, vernier +1,813")
unchanged("Object.new", at, "object", "datadog +9 (3.1)")
Bench.done
