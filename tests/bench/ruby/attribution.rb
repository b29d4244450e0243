# frozen_string_literal: true

# Checks whether samples have the right span, for each way to run work. "Wrong" is the
# CPU time in the method of one span with the label of another; it must be 0. "Lost" is
# the CPU time of spans in samples without a label. It depends on chance; what chance
# explains is printed, too. The alternatives do the same work after spanprof, and are compared by span
# ids only. An alternative that counts waiting as CPU time can have a negative loss on a
# busy machine.
require_relative "peer_spans"
require_relative "span_cases"

SECONDS = Bench.choose(5.0, 0.4)
BARS = {
  threads: "8 threads",
  nested: "nested spans",
  fibers: "40 fibers",
  async_tasks: "40 Async tasks",
  async_requests: "20 Async workers with child tasks",
  enumerators: "spans in enumerators",
  enumerator_of_caller: "enumerator without a span",
  pool: "pool threads, captured context",
  renamed: "renamed, ended elsewhere",
  leaked: "60 leaked spans",
  dead_threads: "spans of threads that died",
  short_threads: "threads of 10 to 40 ms"
}.freeze
THREADS = { threads: 8, pool: 4, dead_threads: SECONDS / 0.02, short_threads: SECONDS / 0.025 }.freeze
# Factors for the run time. Results of short threads depend more on chance, so they need
# a longer run.
FACTOR = { short_threads: 3, dead_threads: 2 }.freeze

# At least 1.5 s, because an alternative may discard a profile that is shorter.
PEER_SECONDS = [SECONDS, 1.5].max

# @return [String] the figures "wrong, lost" of the alternatives
def comparison(name)
  Peers.comparison("", Peers.names(Peers::WITH_SPANS)) do |peer|
    verdict = Peers.attempt(peer) { PeerSpans.measure(peer, name, PEER_SECONDS * FACTOR.fetch(name, 1)) } or next
    format("%.3f, %+.2f", verdict.wrong, verdict.lost)
  end
end

def right(verdict) = (verdict.labelled_s - verdict.wrong_s) / verdict.true_s

# @return [Float] CPU seconds under a wrong span
def judge(verdict, name)
  what = BARS.fetch(name)
  chance = verdict.chance(THREADS.fetch(name, 1))
  Bench.say format("%-34s %5d samples, true %6.2f s, seen %6.2f s, labelled %6.2f s, wrong %.3f s", what,
                   verdict.samples, verdict.true_s, verdict.seen_s, verdict.labelled_s, verdict.wrong_s)
  verdict.stray.sort_by { |_, seconds| -seconds }.first(6).each do |text, seconds|
    Bench.say format("  %.3f s of %s", seconds, text)
  end
  Bench.bar("wrong, lost: #{what}", format("%.3f, %+.3f (chance %.3f)", verdict.wrong, verdict.lost, chance),
            "0, <= 0.02", comparison(name), verdict.wrong_s.zero? && verdict.lost <= 0.02)
  verdict.wrong_s
end

def root_only
  expected = { "middle" => "outer", "inner" => "outer" }
  verdict = Spans.measure(root_span_only: true) do
    SpanCases.nested(SECONDS)
    expected
  end
  comparison = Peers.comparison("", Peers.names(%w[pyroscope])) do |peer|
    Peers.attempt(peer) { PeerSpans.measure(peer, :nested, PEER_SECONDS, root_span_only: true, expected: expected) }
         &.then { |found| format("%.3f, wrong %.3f", right(found), found.wrong) }
  end
  Bench.bar("nested with root_span_only: under the root's id and name",
            format("%.3f (chance %.3f)", right(verdict), verdict.chance(1)), ">= 0.98", comparison, right(verdict) >= 0.98)
  verdict.wrong_s
end

names = ARGV.empty? ? BARS.keys : ARGV.map(&:to_sym)
begin
  require "async"
rescue LoadError
  Bench.skip("wrong, lost: Async", "0, <= 0.02", "the gem async is not installed")
  names -= %i[async_tasks async_requests]
end
wrong = names.sum do |name|
  seconds = SECONDS * FACTOR.fetch(name, 1)
  judge(Spans.measure { SpanCases.public_send(name, seconds) }, name)
end
wrong += root_only if ARGV.empty?
Bench.bar("CPU under a wrong span, all of these", format("%.3f s", wrong), "0", "", wrong.zero?, exact: true)
Bench.done
