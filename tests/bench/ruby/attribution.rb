# frozen_string_literal: true

# Whether samples carry the right span, whatever carries the work: wrong is
# labelled CPU in the method of another span, lost is CPU in spans without a
# label. The first is exact; of the second chance has a share, which is printed.
require_relative "span_cases"

SECONDS = Bench.choose(5.0, 0.4)
BARS = {
  threads: ["8 threads", "datadog 0-0.02, 0.01; pyroscope 0.02, -"],
  nested: ["nested spans", "datadog 0, 0; pyroscope 0.4 without root_span_only"],
  fibers: ["40 fibers", "datadog 0, 0.01; pyroscope 0.65-0.79"],
  async_tasks: ["40 Async tasks", "datadog 0, 0; pyroscope 0.64-0.74"],
  async_requests: ["20 Async workers with child tasks", "datadog 0, 0; pyroscope 0.75"],
  enumerators: ["spans in enumerators", "datadog 0, 0; pyroscope 0.8"],
  enumerator_of_caller: ["enumerator without a span", "datadog lost 0.94; pyroscope 0.02"],
  pool: ["pool threads, captured context", "datadog 0, 0.36 (3.1); pyroscope lost 0.96"],
  renamed: ["renamed, ended elsewhere", "datadog 0, 0; pyroscope 0.82"],
  leaked: ["60 leaked spans", "datadog 0, 0; pyroscope 1.00"],
  dead_threads: ["spans of threads that died", "datadog 0, 0.13; pyroscope 0.7"],
  short_threads: ["threads of 10 to 40 ms", "datadog 0, 0.12; pyroscope -"]
}.freeze
THREADS = { threads: 8, pool: 4, dead_threads: SECONDS / 0.02, short_threads: SECONDS / 0.025 }.freeze
# How often chance decides: short threads are many, and need more of them.
FACTOR = { short_threads: 3, dead_threads: 2 }.freeze

# @return [Float] CPU seconds under a wrong span
def judge(verdict, name)
  what, beside = BARS.fetch(name)
  chance = verdict.chance(THREADS.fetch(name, 1))
  Bench.say format("%-34s %5d samples, true %6.2f s, seen %6.2f s, labelled %6.2f s, wrong %.3f s", what,
                   verdict.samples, verdict.true_s, verdict.seen_s, verdict.labelled_s, verdict.wrong_s)
  verdict.stray.sort_by { |_, seconds| -seconds }.first(6).each do |text, seconds|
    Bench.say format("  %.3f s of %s", seconds, text)
  end
  Bench.bar("wrong, lost: #{what}", format("%.3f, %+.3f (chance %.3f)", verdict.wrong, verdict.lost, chance),
            "0, <= 0.02", beside, verdict.wrong_s.zero? && verdict.lost <= 0.02)
  verdict.wrong_s
end

def root_only
  verdict = Spans.measure(root_span_only: true) do
    SpanCases.nested(SECONDS)
    { "middle" => "outer", "inner" => "outer" }
  end
  right = (verdict.labelled_s - verdict.wrong_s) / verdict.true_s
  Bench.bar("nested with root_span_only: under the root's id and name",
            format("%.3f (chance %.3f)", right, verdict.chance(1)), ">= 0.98", "pyroscope 0.3", right >= 0.98)
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
