# frozen_string_literal: true

# cost.rb MARKS_SO: runs spans and switches of fibers, without spanprof and with
# spanprof, so that check_binding_cost.py can count their instructions under callgrind.
require "fiddle"
require "tmpdir"
require "opentelemetry/sdk"
require "spanprof/otel"

TIMES = 500
MARKS = Fiddle.dlopen(ARGV.fetch(0))
BEGIN_MARK = Fiddle::Function.new(MARKS["cost_begin"], [], Fiddle::TYPE_VOID)
END_MARK = Fiddle::Function.new(MARKS["cost_end"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT], Fiddle::TYPE_VOID)

# A processor that does nothing.
class EmptyProcessor
  def on_start(_span, _parent_context); end
  def on_finish(_span); end
  def force_flush(timeout: nil) = 0
  def shutdown(timeout: nil) = 0
end

def count(name, &work)
  TIMES.times(&work) # not counted: fills caches and pools
  GC.start
  GC.disable
  BEGIN_MARK.call
  TIMES.times(&work)
  END_MARK.call(name, TIMES)
  GC.enable
end

def tracer(processor)
  provider = OpenTelemetry::SDK::Trace::TracerProvider.new
  provider.add_span_processor(processor)
  provider.tracer("cost")
end

def cases(suffix, tracer)
  count("root#{suffix}") { tracer.in_span("GET /orders") { nil } }
  tracer.in_span("GET /orders") do
    count("child#{suffix}") { tracer.in_span("SELECT orders") { nil } }
    fiber = Fiber.new { loop { Fiber.yield } }
    count("switches#{suffix}") { fiber.resume }
  end
  fiber = Fiber.new { loop { Fiber.yield } }
  count("bare_switches#{suffix}") { fiber.resume }
end

cases("_without", tracer(EmptyProcessor.new))
Dir.mktmpdir("spanprof-cost") do |directory|
  Spanprof.start(application_name: "cost", output_directory: directory, sample_rate_hz: 1, log_level: :error) ||
    abort(Spanprof.unavailable_reason)
  cases("", tracer(Spanprof::SpanProcessor.new("cost.cpu", "http://localhost:4040", add_url: true)))
  Spanprof.stop
end
