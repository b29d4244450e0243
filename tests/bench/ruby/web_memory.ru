# frozen_string_literal: true

# A small service that makes a span for each request. ../web_memory.py runs it.
require "json"
require "opentelemetry/sdk"

processor =
  if ENV["BENCH_KIND"] == "ours"
    require "spanprof"
    Spanprof.start(application_name: "bench", server_address: ENV.fetch("BENCH_SINK")) or raise Spanprof.unavailable_reason
    Spanprof::SpanProcessor.new
  end
ENV["OTEL_TRACES_EXPORTER"] = "none"
OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor) if processor }
tracer = OpenTelemetry.tracer_provider.tracer("bench")

run(lambda do |env|
  body = tracer.in_span("GET #{env["PATH_INFO"]}") do
    JSON.generate(Array.new(500) { |index| { id: index, text: index.to_s * 3 } }.sort_by { |one| one[:text] })
  end
  [200, { "content-type" => "application/json" }, [body]]
end)
