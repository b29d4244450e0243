# frozen_string_literal: true

# start_cost_of.rb none|curl|ours|NAME: prints the CPU time and memory from the start of
# this script until a session, or the alternative NAME, is running.
require_relative "peers"
require "fiddle"
require "opentelemetry/sdk"

def resident = File.read("/proc/self/smaps_rollup")[/^Rss:\s+(\d+)/, 1].to_i / 1024.0

ENV["OTEL_TRACES_EXPORTER"] = "none"
GC.start
mib = -resident
cpu_s = -Bench.process_cpu
case kind = ARGV.fetch(0)
when "curl"
  # CURL_GLOBAL_DEFAULT is 3 (curl/curl.h).
  Fiddle::Function.new(Fiddle.dlopen("libcurl.so.4")["curl_global_init"], [Fiddle::TYPE_LONG], Fiddle::TYPE_INT).call(3)
when "ours"
  require "spanprof"
  Spanprof.start(application_name: "bench", server_address: "http://127.0.0.1:1", log_level: :off) or
    raise Spanprof.unavailable_reason
  OpenTelemetry::SDK.configure { |config| config.add_span_processor(Spanprof::SpanProcessor.new) }
when "none"
  OpenTelemetry::SDK.configure
else
  Peers.start(kind)
  processor = Peers.processor(kind)
  OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor) if processor }
end
cpu_s += Bench.process_cpu
puts JSON.generate(cpu_ms: cpu_s * 1000, mib: mib + resident)
$stdout.flush
exit!(0)
