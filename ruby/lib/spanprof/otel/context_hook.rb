# frozen_string_literal: true

module Spanprof
  module Otel
    # Prepended to OpenTelemetry::Context's singleton class, whose every way to
    # make a context current goes through these three (opentelemetry-api 1.1 to
    # 1.11). What is current is read again each time, so that detaching out of
    # order, too often or never is followed as OpenTelemetry itself sees it.
    # @api private
    module ContextHook
      def attach(context)
        token = super
        Native.context_attached(context)
        token
      end

      def detach(token)
        matched = super
        Native.context_detached
        matched
      end

      def clear
        cleared = super
        Native.context_detached
        cleared
      end
    end
  end
end
