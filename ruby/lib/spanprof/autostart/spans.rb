# frozen_string_literal: true

module Spanprof
  module Autostart
    # Adds our span processor to the SDK that the program sets up.
    module Spans
      # Prepended to OpenTelemetry: SDK.configure ends by setting the provider.
      module Provider
        def tracer_provider=(provider)
          super
          Spans.add(provider)
        end
      end

      class << self
        # Idempotent; without the SDK there is nothing to follow.
        def follow
          return if @followed || !defined?(::OpenTelemetry::SDK)

          @followed = true
          ::OpenTelemetry.singleton_class.prepend(Provider)
          add(::OpenTelemetry.tracer_provider)
        end

        # A program that adds a processor of ours itself keeps it alone.
        def add(provider)
          return if !provider.respond_to?(:add_span_processor) || ours?(provider)

          provider.add_span_processor(Otel::SpanProcessor.new)
        rescue StandardError => e
          Logging.say(:warn, "spans are not followed: #{e.message}")
        end

        private

        def ours?(provider)
          provider.instance_variable_get(:@span_processors)&.any?(Otel::SpanProcessor)
        end
      end
    end
  end
end
