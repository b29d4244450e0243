# frozen_string_literal: true

# Measures the cost of a sample for the sampled thread. The thread works for 10 ms,
# which evicts the profiler's memory from the caches, and then sends itself the signal
# of spanprof's timer, or a signal whose handler only counts (../ambush.c). The counting
# signal is measured twice, as the control. Alternatives with a handler are measured in
# the same way, in separate processes; work that their handler leaves to the thread is
# included.
require_relative "peers"

TURNS = Bench.choose(1000, 40)

# @return [Array(Float, Float)] the medians of a sample and of the control, minus the
#   median of the counting handler
def measure(kind, out)
  found = JSON.parse(out)
  found.each do |what, list|
    text = list.is_a?(Array) ? format("us: %s, p99 %.1f", Bench.spread(list), Bench.quantile(list, 0.99)) : list
    Bench.say "#{kind}: #{what} #{text}"
  end
  profiler, counting, control = found.values_at("profiler", "counting", "control").map { |list| Bench.median(list) }
  [profiler - counting, control - counting]
end

Bench.directory do |directory|
  library = "#{directory}/ambush.so"
  system("cc", "-O2", "-shared", "-fPIC", "-o", library, "#{Bench::ROOT}/tests/bench/ambush.c") or raise "no compiler"
  ours, control = measure("ours", Bench.program("handler_cost_of.rb", "ours", library, TURNS))
  comparison = Peers.comparison(format("control %+.1f", control), Peers.names(Peers::WITH_HANDLER)) do |peer|
    out = Peers.program(peer, "handler_cost_of.rb", peer, library, TURNS) or next
    format("%.1f", measure(peer, out).first)
  end
  Bench.bar("application thread, per sample, 24 frames, caches cold", format("%.1f us", ours), "<= 5 us", comparison, ours <= 5)
end
Bench.done
