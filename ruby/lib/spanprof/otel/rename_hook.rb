# frozen_string_literal: true

module Spanprof
  module Otel
    # In the place of a span's method: a span that is renamed while it runs (a web
    # framework knows the route late) has its new name in the running window.
    # @api private
    module RenameHook
      def name=(name)
        self.spanprof_original_name = name
        Native.span_rename(self)
      end

      class << self
        # Idempotent. What the class inherits the method from has it for all, but
        # for the API's span, whose does nothing.
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
