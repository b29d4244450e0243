# frozen_string_literal: true

# What a sample costs the thread it is taken of: the thread sends itself our
# timer's signal, in turn with one whose handler only counts, after 10 ms of
# work that leaves nothing of ours in the caches (../ambush.c). Twice the one
# that counts is the control.
require_relative "spans"
require "fiddle"

FRAMES = 24
TURNS = Bench.choose(1000, 40)
SIGNAL = Signal.list.fetch("RTMIN", 34) + 9

def ambush
  Bench.directory do |directory|
    library = "#{directory}/ambush.so"
    system("cc", "-O2", "-shared", "-fPIC", "-o", library, "#{Bench::ROOT}/tests/bench/ambush.c") or raise "no compiler"
    handle = Fiddle.dlopen(library)
    # With the GVL, as where Ruby runs.
    yield Fiddle::Function.new(handle["ambush_begin"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT, need_gvl: true),
          Fiddle::Function.new(handle["ambush_turn"], [Fiddle::TYPE_INT], -Fiddle::TYPE_LONG_LONG, need_gvl: true)
  end
end

def deep(frames, &block) = frames > 1 ? deep(frames - 1, &block) : yield

def turns(turn)
  times = { ours: [], counting: [], control: [] }
  (TURNS + 20).times do |round|
    times.each { |kind, list| turn.call(kind == :ours ? 1 : 0).then { |ns| list << (ns / 1000.0) if round >= 20 } }
  end
  times
end

# Our session, started so late that nothing of it is warm.
times = Bench.apart do
  Bench.directory do |directory|
    ambush do |begin_, turn|
      Spans.start(directory, rate: 1, signal: SIGNAL)
      raise "the signals cannot be used" unless begin_.call(SIGNAL).zero?

      before = Spanprof.stats.fetch(:samples_taken)
      found = Spans.in_span("GET /orders") { deep(FRAMES - caller.size - 4) { turns(turn) } }
      taken = Spanprof.stats.fetch(:samples_taken) - before
      Spanprof.stop
      raise "#{taken} samples of #{TURNS + 20} signals" if taken < TURNS + 20

      depth = ProfileReader.samples(directory).map { |sample| sample.frames.count { |frame| frame.file.end_with?(".rb") } }
      Bench.say "#{Bench.median(depth)} Ruby frames"
      found
    end
  end
end
times.each { |kind, list| Bench.say format("%-9s us: %s, p99 %.1f", kind, Bench.spread(list), Bench.quantile(list, 0.99)) }
ours, counting, control = times.values_at(:ours, :counting, :control).map { |list| Bench.median(list) }
Bench.bar("application thread, per sample, #{FRAMES} frames, caches cold", format("%.1f us", ours - counting), "<= 5 us",
          format("control %+.1f; stackprof 10, datadog 20-50, pf2 50-70", control - counting), ours - counting <= 5)
Bench.done
