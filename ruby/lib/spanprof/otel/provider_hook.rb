# frozen_string_literal: true

module Spanprof
  module Otel
    # In the place of OpenTelemetry's method: adds our span processor to the SDK
    # that the program sets up. SDK.configure ends by setting the provider.
    # @api private
    module ProviderHook
      def tracer_provider=(provider)
        self.spanprof_original_tracer_provider = provider
        ProviderHook.add(provider)
      end

      class << self
        # Idempotent; the SDK is loaded.
        def install
          return if @installed

          @installed = true
          Override.install(::OpenTelemetry.singleton_class, self)
          add(::OpenTelemetry.tracer_provider)
        end

        # A program that adds a processor of ours itself keeps it alone.
        def add(provider)
          return if !provider.respond_to?(:add_span_processor) || ours?(provider)

          provider.add_span_processor(SpanProcessor.new)
        rescue StandardError => e
          Logging.say(:warn, "spans are not followed: #{e.message}")
        end

        private

        def ours?(provider)
          provider.instance_variable_get(:@span_processors)&.any?(SpanProcessor)
        end
      end
    end
  end
end
