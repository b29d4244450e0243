# frozen_string_literal: true

module Spanprof
  module Otel
    # Replaces OpenTelemetry.tracer_provider=: adds spanprof's span processor to the tracer provider
    # that the program installs. SDK.configure calls this method last.
    # @api private
    module ProviderHook
      def tracer_provider=(provider)
        self.spanprof_original_tracer_provider = provider
        ProviderHook.add(provider)
      end

      class << self
        # Idempotent. The SDK must be loaded.
        def install
          return if @installed

          @installed = true
          Override.install(::OpenTelemetry.singleton_class, self)
          add(::OpenTelemetry.tracer_provider)
        end

        # Add spanprof's span processor unless the program has added one itself.
        def add(provider)
          return if !provider.respond_to?(:add_span_processor) || ours?(provider)

          provider.add_span_processor(SpanProcessor.new)
        rescue StandardError => e
          Logging.log(:warn, "spans are not shown: #{e.message}")
        end

        private

        def ours?(provider)
          provider.instance_variable_get(:@span_processors)&.any?(SpanProcessor)
        end
      end
    end
  end
end
