# frozen_string_literal: true

require_relative "../spanprof/otel"
require_relative "../pyroscope"

module Pyroscope
  # What the gem pyroscope-otel brings.
  module Otel
    # The span processor under its old name.
    # @see Spanprof::Otel::SpanProcessor
    SpanProcessor = Spanprof::Otel::SpanProcessor
  end
end
