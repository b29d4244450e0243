# frozen_string_literal: true

# Prints the cost of spans with one kind of processor: ns of CPU time, and objects, per
# span.
require_relative "peers"
require "opentelemetry/sdk"

# A processor that does nothing.
class EmptyProcessor
  def on_start(_span, _parent_context); end
  def on_finish(_span); end
  def force_flush(timeout: nil) = 0
  def shutdown(timeout: nil) = 0
end

OPTIONS = {
  "root_only" => {}, "id" => { root_span_only: false, add_url: false }, "url" => { root_span_only: false },
  "baseline" => { add_baseline_urls: true }
}.freeze
SPANS = Bench.choose(4000, 500)

# Starts an alternative, and returns its processor. If `all` is true, it labels all
# spans, not only root spans.
def peer_processor(name, all)
  Peers.start(name)
  Peers.processor(name, root_span_only: !all) || EmptyProcessor.new
end

def processor(kind)
  return EmptyProcessor.new if kind.start_with?("empty")

  options = OPTIONS[kind] or return peer_processor(kind[/\w+/], kind.end_with?(":all"))
  require "spanprof"
  Spanprof.start(application_name: "rideshare-ruby", output_directory: "#{Dir.tmpdir}/spanprof-bench-#{Process.pid}",
                 log_level: :error) or raise Spanprof.unavailable_reason
  Spanprof::SpanProcessor.new("rideshare-ruby.cpu", "http://localhost:4040", **options)
end

# @return [Array(Float, Float)] ns per span, the median of several rounds, and objects per span
def cost
  rounds = Array.new(5) do
    GC.start
    begin_s = Bench.cpu
    SPANS.times { yield }
    (Bench.cpu - begin_s) * 1e9 / SPANS
  end
  GC.disable
  objects = GC.stat(:total_allocated_objects)
  1000.times { yield }
  objects = GC.stat(:total_allocated_objects) - objects
  GC.enable
  [Bench.median(rounds), objects / 1000.0]
end

ENV["OTEL_TRACES_EXPORTER"] = "none"
OpenTelemetry.error_handler = ->(exception: nil, message: nil) { raise exception || message }
OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor(ARGV.fetch(0))) }
tracer = OpenTelemetry.tracer_provider.tracer("bench")
root = cost { tracer.in_span("GET /orders") { nil } }
child = tracer.in_span("GET /orders") { cost { tracer.in_span("SELECT orders") { nil } } }
if defined?(Spanprof)
  Spanprof.stop
  FileUtils.rm_rf("#{Dir.tmpdir}/spanprof-bench-#{Process.pid}")
end
puts JSON.generate(root_ns: root[0], root_objects: root[1], child_ns: child[0], child_objects: child[1])
$stdout.flush
exit!(0)
