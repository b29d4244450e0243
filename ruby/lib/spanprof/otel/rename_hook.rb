# frozen_string_literal: true

module Spanprof
  module Otel
    # Replaces the method `name=` of spans: if a span is renamed before it ends, the profile of the
    # current upload interval has the new name. This is common, because a web framework determines
    # the route of a request only after the span has started.
    # @api private
    module RenameHook
      def name=(name)
        self.spanprof_original_name = name
        Native.span_rename(self)
      end

      class << self
        # Idempotent. Replaces the method in the class from which the span's class inherits it,
        # unless this is the API's class of spans, whose `name=` does nothing.
        # @param span_class [Class]
        def follow(span_class)
          return unless span_class.method_defined?(:name=)

          method = span_class.instance_method(:name=)
          method = method.super_method while method.super_method && method.super_method.owner != ::OpenTelemetry::Trace::Span
          Override.install(method.owner, self) unless method.owner == ::OpenTelemetry::Trace::Span
        end
      end
    end
  end
end
