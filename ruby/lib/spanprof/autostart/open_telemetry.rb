# frozen_string_literal: true

module Spanprof
  module Autostart
    # Adds our span processor to the SDK that the program loads later.
    module OpenTelemetryWatch
      # Prepended to OpenTelemetry: SDK.configure ends by setting the provider.
      module Provider
        def tracer_provider=(provider)
          super
          OpenTelemetryWatch.add(provider)
        end
      end

      FILE = "opentelemetry/sdk"

      class << self
        def install
          watch_require
          loaded if defined?(::OpenTelemetry::SDK)
        end

        # @param path [String] of a require that succeeded
        def required(path)
          loaded if path == FILE && !@loaded && defined?(::OpenTelemetry::SDK)
        end

        # A program that adds a processor of ours itself keeps it alone.
        def add(provider)
          return if !provider.respond_to?(:add_span_processor) || ours?(provider)

          provider.add_span_processor(Otel::SpanProcessor.new)
        rescue StandardError => e
          Logging.say(:warn, "spans are not followed: #{e.message}")
        end

        private

        def loaded
          @loaded = true
          ::OpenTelemetry.singleton_class.prepend(Provider)
          add(::OpenTelemetry.tracer_provider)
        end

        def ours?(provider)
          provider.instance_variable_get(:@span_processors)&.any?(Otel::SpanProcessor)
        end

        # By an alias, like RubyGems, bootsnap and zeitwerk do: an alias of a
        # prepended method calls itself for ever.
        def watch_require
          Kernel.module_eval do
            alias_method :spanprof_original_require, :require
            private :spanprof_original_require

            def require(path)
              spanprof_original_require(path).tap { OpenTelemetryWatch.required(path) }
            end
            private :require
          end
        end
      end
    end
  end
end
