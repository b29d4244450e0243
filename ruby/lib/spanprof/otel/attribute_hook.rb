# frozen_string_literal: true

module Spanprof
  module Otel
    # Detects patches of the SDK's set_attribute. While set_attribute is unpatched, the C code
    # stores attributes directly in a new span; after the first patch, the C code calls
    # set_attribute. The SDK's class of spans is extended with this module.
    # @api private
    module AttributeHook
      SPAN = "OpenTelemetry::SDK::Trace::Span"
      FILE = "opentelemetry/sdk/trace/span.rb"

      class << self
        # Idempotent.
        # @param span_class [Class]
        def follow(span_class)
          return if span_class.singleton_class.include?(self)

          span_class.extend(self)
          Native.attributes_direct(span_class) if untouched?(span_class)
        end

        private

        def untouched?(span_class)
          span_class.name == SPAN && span_class.ancestors.first == span_class &&
            span_class.instance_method(:set_attribute).source_location&.first.to_s.end_with?(FILE)
        end
      end

      def prepend(*)
        super.tap { Native.attributes_direct(nil) }
      end

      def method_added(name)
        super
        Native.attributes_direct(nil) if name == :set_attribute
      end
    end
  end
end
