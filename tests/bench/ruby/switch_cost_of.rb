# frozen_string_literal: true

# Prints the cost of fibers, threads, the GVL and objects in one process.
require_relative "peers"
require "bench_native"
require "opentelemetry/sdk"

ENV["OTEL_TRACES_EXPORTER"] = "none"
kind = ARGV.fetch(0)
ours = kind == "ours"
threads = Peers.threads
if ours
  require "spanprof"
  Spanprof.start(application_name: "bench", output_directory: Dir.mktmpdir("spanprof-bench"), log_level: :error) or
    raise Spanprof.unavailable_reason
elsif Peers.names.include?(kind)
  Peers.start(kind)
end
threads = Peers.threads - threads
processor = ours ? Spanprof::SpanProcessor.new : Peers.processor(kind)
OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor) if processor }

# @return [Float] CPU time of this process in ns for each of `count` calls, the
#   median of seven rounds
def cost(count)
  Bench.median(Array.new(7) do
    GC.start
    begin_s = yield(count)
    begin_s * 1e9 / count
  end)
end

def cpu_of
  begin_s = Bench.cpu
  yield
  Bench.cpu - begin_s
end

fiber = Fiber.new { loop { Fiber.yield } }
few, many = Bench.choose([2000, 400_000], [100, 20_000])
found = {
  fiber: cost(many) { |count| cpu_of { count.times { fiber.resume } } },
  # The CPU time of the profiler's threads is subtracted, because their work does not
  # depend on these operations.
  thread: cost(few) do |count|
    begin_s = Bench.process_cpu - Peers.cpu_of(threads)
    count.times { Thread.new { nil }.join }
    Bench.process_cpu - Peers.cpu_of(threads) - begin_s
  end,
  gvl: cost(many) { |count| BenchNative.give_up(count) * count / 1e9 },
  object: cost(many) { |count| cpu_of { count.times { Object.new } } }
}
puts JSON.generate(found)
$stdout.flush
exit!(0)
