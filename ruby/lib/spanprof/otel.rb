# frozen_string_literal: true

require_relative "../spanprof"

module Spanprof
  # Spans of OpenTelemetry.
  module Otel
    autoload :ContextHook, File.expand_path("otel/context_hook.rb", __dir__)
    autoload :RenameHook, File.expand_path("otel/rename_hook.rb", __dir__)
    autoload :SpanProcessor, File.expand_path("otel/span_processor.rb", __dir__)

    class << self
      # Follow which span is active: from now on, in every fiber and thread. A
      # {SpanProcessor} does so by itself. May be called again, at any time.
      # @return [Boolean] whether spans are followed: false without OpenTelemetry's API, or where this Ruby cannot be
      #   profiled
      def install
        return true if @installed
        return false if LOAD_ERROR || !defined?(::OpenTelemetry::Trace)

        Native.activation_follow(::OpenTelemetry::Context, ::OpenTelemetry::Trace.const_get(:CURRENT_SPAN_KEY))
        ::OpenTelemetry::Context.singleton_class.prepend(ContextHook)
        @installed = true
      rescue StandardError => e
        Logging.say_once(:error, "spans are not followed: #{e.message}")
        false
      end

      # The first of each kind goes to the log; the core counts them all.
      # @api private
      def failed(what, error)
        Logging.say_once(:warn, "#{what}: #{error.class}: #{error.message}")
      end
    end
  end
end
