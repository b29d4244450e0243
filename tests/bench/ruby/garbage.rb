# frozen_string_literal: true

# Checks a span whose work allocates while there are many live objects, so that half of
# its time is garbage collection. This time must be under the span, and shown as garbage
# collection.
require_relative "spans"

SECONDS = Bench.choose(6.0, 0.8)

# Objects that the garbage collector has to mark.
LIVE = Array.new(300_000) { |index| "live #{index}" }

module Spans::Burn
  def self.burn_allocate(until_s)
    kept = []
    while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < until_s
      1000.times { |index| kept << { index => index.to_s } }
      kept.clear if kept.size > 100_000
    end
  end
end

def measure
  Bench.apart do
    Bench.directory do |directory|
      Spans.start(directory)
      GC.start
      gc_s = -GC.total_time / 1e9
      true_s = Spans.in_span("allocate") { Spans.work("allocate", SECONDS) }
      gc_s += GC.total_time / 1e9
      Spanprof.stop(timeout: 30)
      samples = ProfileReader.samples(directory)
      # GC.total_time is CPU time on systems with CPU clocks, such as Linux.
      [true_s, gc_s, samples.select { |sample| sample.labels["span_name"] == "allocate" }
                            .map { |sample| [sample.cpu_ns / 1e9, sample.stack.take(2)] }]
    end
  end
end

true_s, gc_s, samples = measure
labelled_s = samples.sum(&:first)
shown = samples.select { |_, stack| stack.any? { |name| name.include?("garbage collection") } }
shown_s = shown.sum(&:first)
under = shown.group_by { |_, stack| stack[1] }.transform_values { |list| list.sum(&:first).round(2) }
Bench.say format("true %.2f s, of it GC %.2f s; under the span %.2f s, of it shown as GC %.2f s", true_s, gc_s, labelled_s,
                 shown_s)
Bench.say "GC below: #{under.sort_by { |_, seconds| -seconds }.first(4).to_h}"
ratio = labelled_s / true_s
Bench.bar("span that collects: CPU under the span", format("%.3f", ratio), "0.98 to 1.02",
          "", ratio.between?(0.98, 1.02))
difference = (shown_s / labelled_s) - (gc_s / true_s)
Bench.bar("share shown as GC, less GC.total_time's", format("%+.3f of %.2f", difference, gc_s / true_s), "+-0.05",
          "", difference.abs <= 0.05)
Bench.done
