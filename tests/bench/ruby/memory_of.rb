# frozen_string_literal: true

# memory_of.rb ours|none|NAME ADDRESS SECONDS...: prints the resident MiB before the
# session (or the alternative NAME) starts, and after each number of seconds of work.
require_relative "peers"
require "opentelemetry/sdk"

KIND, ADDRESS, *MARKS = ARGV

# Work in 400 methods.
module Work
  400.times do |index|
    module_eval("def self.step#{index}(until_s)\n  count = 0\n  count += 1 while Bench.cpu < until_s\n  count.to_s * 20\nend", "work.rb", index)
  end
end

def resident = File.read("/proc/self/smaps_rollup")[/^Rss:\s+(\d+)/, 1].to_i / 1024.0

GC.start
marks = [resident]
ENV["OTEL_TRACES_EXPORTER"] = "none"
if KIND == "ours"
  require "spanprof"
  Spanprof.start(application_name: "bench", server_address: ADDRESS) or raise Spanprof.unavailable_reason
  processor = Spanprof::SpanProcessor.new
elsif KIND != "none"
  Peers.start(KIND, address: ADDRESS)
  processor = Peers.processor(KIND)
end
OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor) if processor }
tracer = OpenTelemetry.tracer_provider.tracer("bench")
begin_s = Bench.clock
4.times do |thread|
  Thread.new do
    turn = thread
    loop do
      tracer.in_span("ride #{turn % 40}") { Work.public_send(:"step#{turn % 400}", Bench.cpu + 0.0075) }
      turn += 1
      sleep 0.09
    end
  end
end
MARKS.each do |mark|
  sleep [begin_s + Float(mark) - Bench.clock, 0].max
  marks << resident
end
puts JSON.generate(marks)
$stdout.flush
exit!(0)
