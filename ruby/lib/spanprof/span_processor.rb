# frozen_string_literal: true

require_relative "otel"

module Spanprof
  # The class that a program adds to OpenTelemetry's SDK.
  # @see Spanprof::Otel::SpanProcessor
  SpanProcessor = Otel::SpanProcessor
end
