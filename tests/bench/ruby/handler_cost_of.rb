# frozen_string_literal: true

# handler_cost_of.rb KIND LIBRARY TURNS: prints the microseconds of signals that the
# thread sends to itself, 24 frames deep: signals of the profiler, signals whose handler
# only counts, and the latter again as the control. KIND is "ours" or an alternative.
# The profiler's own timer has the lowest possible rate.
require_relative "peers"
require_relative "spans"
require "fiddle"

KIND, LIBRARY = ARGV
TURNS = Integer(ARGV.fetch(2))
WARM = 20
FRAMES = 24
RATE_HZ = 2
SIGNAL = Signal.list.fetch("RTMIN", 34) + 9

# Functions of ambush.c, called without releasing the GVL, so that the signals arrive as
# in Ruby code.
module Ambush
  LOADED = Fiddle.dlopen(LIBRARY)

  class << self
    def begin(signal)
      function("ambush_begin", [Fiddle::TYPE_INT]).call(signal).zero? or raise "the signals cannot be used"
      # rb_thread_check_ints() does the work that handlers have left to the thread.
      function("ambush_drain", [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID).call(Fiddle::Handle::DEFAULT["rb_thread_check_ints"])
      @turn = function("ambush_turn", [Fiddle::TYPE_INT], -Fiddle::TYPE_LONG_LONG)
    end

    def turn(of_profiler) = @turn.call(of_profiler)

    private

    def function(name, arguments, result = Fiddle::TYPE_INT)
      Fiddle::Function.new(LOADED[name], arguments, result, need_gvl: true)
    end
  end
end

def deep(frames, &block) = frames > 1 ? deep(frames - 1, &block) : yield

# @return [Hash{String => Array<Float>}] microseconds of each signal, by kind
def times
  times = { "profiler" => [], "counting" => [], "control" => [] }
  deep(FRAMES - caller.size - 4) do
    (TURNS + WARM).times do |round|
      times.each { |kind, list| Ambush.turn(kind == "profiler" ? 1 : 0).then { |ns| list << (ns / 1000.0) if round >= WARM } }
    end
  end
  times
end

# Measures spanprof, with a session that starts right before the measurement.
def of_ours
  Bench.directory do |directory|
    Spans.start(directory, rate: 1, signal: SIGNAL)
    Ambush.begin(SIGNAL)
    before = Spanprof.stats.fetch(:samples_taken)
    found = Spans.in_span("GET /orders") { times }
    taken = Spanprof.stats.fetch(:samples_taken) - before
    Spanprof.stop
    depth = ProfileReader.samples(directory).map { |sample| sample.frames.count { |frame| frame.file.end_with?(".rb") } }
    found.merge("taken" => taken, "frames" => Bench.median(depth))
  end
end

# Lets Datadog sample at a low rate, and keep samples even if they take more than 2 % of
# the time. It has no settings for this, so the class that samples is changed.
def datadog_on_demand
  require "datadog"
  Datadog::Profiling::Collectors::CpuAndWallTimeWorker.prepend(Module.new do
    def initialize(**options)
      super(**options, dynamic_sampling_rate_enabled: false, cpu_sampling_interval_ms: 1000 / RATE_HZ)
    end
  end)
end

# Measures an alternative, whose signal is SIGPROF (stackprof, pf2, datadog).
def of_peer
  datadog_on_demand if KIND == "datadog"
  Spans.follow(Peers.processor(KIND))
  Peers.start(KIND, rate_hz: RATE_HZ)
  Ambush.begin(Signal.list.fetch("PROF"))
  found = Spans.in_span("GET /orders") { times }
  found.merge("taken" => Peers.taken(KIND))
end

found = KIND == "ours" ? of_ours : of_peer
found["taken"] >= TURNS + WARM or raise "#{found["taken"]} samples of #{TURNS + WARM} signals"
puts JSON.generate(found)
$stdout.flush
exit!(0)
