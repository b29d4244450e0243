# frozen_string_literal: true

require "opentelemetry/sdk"
require "opentelemetry/exporter/otlp"
require "opentelemetry/instrumentation/rack"
require "opentelemetry/instrumentation/sinatra"
require "spanprof"

# The setup that the application needs for traces and profiles. Puma's forked workers need no
# further setup. Without a server, profiles are written to files.
Spanprof.start(application_name: "rideshare-ruby", labels: { region: ENV.fetch("REGION", "eu-north") },
               server_address: ENV["PYROSCOPE_SERVER_ADDRESS"], output_directory: ENV["PROFILES"])

OpenTelemetry::SDK.configure do |config|
  config.service_name = "rideshare-ruby"
  config.use "OpenTelemetry::Instrumentation::Rack"
  config.use "OpenTelemetry::Instrumentation::Sinatra"
end
# The span processor is added after `configure`. If the block of `configure` added it, it would
# replace the exporter.
OpenTelemetry.tracer_provider.add_span_processor Spanprof::SpanProcessor.new
