# frozen_string_literal: true

module Spanprof
  module Otel
    # Replaces the SDK's TracerProvider#add_span_processor: profiles get the service name of the
    # provider's Resource as soon as spanprof's span processor is added to the provider. The start
    # of the first span would be too late, because some processes never start a span (the master of
    # Puma).
    # @api private
    module ResourceHook
      def add_span_processor(span_processor)
        added = spanprof_original_add_span_processor(span_processor)
        ResourceHook.report(self) if SpanProcessor === span_processor
        added
      end

      class << self
        # Idempotent.
        def install
          return unless !LOAD_ERROR && defined?(::OpenTelemetry::SDK::Trace::TracerProvider)

          Override.install(::OpenTelemetry::SDK::Trace::TracerProvider, self)
        end

        # @param owner [#resource] a provider or one of its spans
        def report(owner)
          attributes = owner.resource.attribute_enumerator.to_h
          name = attributes["service.name"].to_s
          Native.resource_set(name, attributes["service.namespace"].to_s) unless name.empty?
        rescue *OURS => e
          Logging.log_error_once(:warn, "the service name of the spans cannot be read", e)
        end
      end
    end
  end
end
