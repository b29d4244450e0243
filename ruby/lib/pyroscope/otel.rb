# frozen_string_literal: true

require "uri"

require_relative "../spanprof/otel"
require_relative "../pyroscope"

module Pyroscope
  # The interface of the gem pyroscope-otel.
  module Otel
    VERSION = Spanprof::VERSION

    # Is never raised. It exists because programs may rescue it.
    class Error < StandardError; end

    # The span processor with the name that it has in the gem pyroscope-otel, the label `span`
    # instead of `span_name`, and always with a URL.
    # @see Spanprof::Otel::SpanProcessor
    class SpanProcessor < Spanprof::Otel::SpanProcessor
      def initialize(app_name = nil, pyroscope_endpoint = nil, **options)
        super(app_name, pyroscope_endpoint, legacy_span_label: true, add_url: true, **options)
      end

      # @return [URI, Object] the value itself if it is not a URL
      def pyroscope_endpoint
        given = super
        given.is_a?(String) ? URI.parse(given) : given
      rescue URI::Error
        given
      end
    end
  end
end
