# frozen_string_literal: true

module Spanprof
  module Otel
    # Replaces the SDK's method: profiles are named after the service in the
    # Resource of a tracer provider as soon as our processor is added to it, since a
    # process may never start a span, like the master of Puma.
    # @api private
    module ResourceHook
      def add_span_processor(span_processor)
        added = spanprof_original_add_span_processor(span_processor)
        ResourceHook.tell(self) if SpanProcessor === span_processor
        added
      end

      class << self
        # Idempotent.
        def install
          return unless !LOAD_ERROR && defined?(::OpenTelemetry::SDK::Trace::TracerProvider)

          Override.install(::OpenTelemetry::SDK::Trace::TracerProvider, self)
        end

        # @param owner [#resource] a provider or one of its spans
        def tell(owner)
          attributes = owner.resource.attribute_enumerator.to_h
          name = attributes["service.name"].to_s
          Native.resource_set(name, attributes["service.namespace"].to_s) unless name.empty?
        rescue *OURS => e
          Logging.failed_once(:warn, "the service of the spans is not known", e)
        end
      end
    end
  end
end
