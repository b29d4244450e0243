# frozen_string_literal: true

require "opentelemetry/sdk"
require "opentelemetry/exporter/otlp"
require "opentelemetry/instrumentation/rack"
require "opentelemetry/instrumentation/sinatra"
require "spanprof"

# All that the application does to be traced and profiled; the workers that Puma
# forks go on by themselves. Where no server is named, profiles are files.
Spanprof.start(application_name: "rideshare-ruby", labels: { region: ENV.fetch("REGION", "eu-north") },
               server_address: ENV["PYROSCOPE_SERVER_ADDRESS"], output_directory: ENV["PROFILES"])

OpenTelemetry::SDK.configure do |config|
  config.service_name = "rideshare-ruby"
  config.use "OpenTelemetry::Instrumentation::Rack"
  config.use "OpenTelemetry::Instrumentation::Sinatra"
end
# Not within configure, which would take it in place of the exporter.
OpenTelemetry.tracer_provider.add_span_processor Spanprof::SpanProcessor.new
