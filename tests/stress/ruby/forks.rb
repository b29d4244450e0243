# frozen_string_literal: true

# A process forks while one of its threads burns CPU time. Each child works in a span, and exits in
# one of the ways that deliver the last samples. The child's profile must exist soon afterwards.
require_relative "stress"
require "opentelemetry/sdk"

OpenTelemetry::SDK.configure { |config| config.add_span_processor(Spanprof::SpanProcessor.new) }
TRACER = OpenTelemetry.tracer_provider.tracer("stress")
WAYS = [-> { exit }, -> { exit!(0) }, -> { Process.exit!(true) }, -> { exec("true") }, -> {},
        -> { Thread.new { Thread.main.raise(SystemExit) }.join && sleep }].freeze

Stress.run do |round|
  beside = Thread.new { Stress.burn(0.02) }
  pid = Stress.child do
    TRACER.in_span("child") { Stress.burn(0.02) }
    WAYS[round % WAYS.size].call
  end
  TRACER.in_span("parent") { Stress.burn(0.02) }
  beside.join
  abort "the child of round #{round} left no profile" if Dir["#{Stress.directory}/*-#{pid}-*.pb.gz"].empty?
end
