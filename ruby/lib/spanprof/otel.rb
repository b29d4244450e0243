# frozen_string_literal: true

require_relative "../spanprof"
require_relative "otel/attribute_hook"
require_relative "otel/provider_hook"
require_relative "otel/rename_hook"
require_relative "otel/resource_hook"
require_relative "otel/span_processor"

module Spanprof
  # The connection to OpenTelemetry's spans.
  module Otel
    # End of the path of the API's file that defines OpenTelemetry::Context.
    FILE = "opentelemetry/context.rb"
    # Errors that this gem's calls of OpenTelemetry may raise. Not all StandardErrors are rescued,
    # because Timeout may raise one in any running code, and that exception belongs to the program.
    OURS = [Error, FrozenError, NameError, ArgumentError, TypeError].freeze
    private_constant :FILE, :OURS

    class << self
      # Follow the active span in every fiber and thread from now on. A {SpanProcessor} calls this
      # itself. May be called repeatedly.
      # @return [Boolean] whether spans are followed; false without OpenTelemetry's API, or if this Ruby cannot be
      #   profiled
      def install
        return true if @installed
        return false if LOAD_ERROR || !defined?(::OpenTelemetry::Trace)

        context = ::OpenTelemetry::Context
        variable, local = storage(context)
        Native.activation_follow(context, ::OpenTelemetry::Trace.const_get(:CURRENT_SPAN_KEY), variable, local,
                                 unpatched?(context, variable))
        @installed = true
      rescue StandardError => e
        Logging.log_once(:error, "spans are not shown: #{e.message}")
        false
      end

      # Whether new fibers and threads (Fiber.new, Thread.new) inherit the span and the labels of their creator until
      # they have a span of their own. The default is false, because OpenTelemetry's own context is empty in a new
      # fiber or thread: spans that start there are roots.
      # @param inherit [Boolean]
      def inherit_spans=(inherit)
        Native.scopes_inherit(inherit) unless LOAD_ERROR
      end

      private

      # Returns the name of the variable in which the API keeps a fiber's stack of contexts.
      # @return [Array(Symbol, Symbol)] an instance variable of the fiber, or a fiber-local variable
      def storage(context)
        return [:@opentelemetry_context, nil] if Fiber.method_defined?(:opentelemetry_context)

        [nil, (context.const_get(:STACK_KEY) if context.const_defined?(:STACK_KEY))]
      end

      def own?(context, name)
        method = context.method(name)
        method.owner == context.singleton_class && method.source_location&.first.to_s.end_with?(FILE)
      end

      # Whether Context.attach and Context.detach are the API's own methods, and only push a context
      # on the stack of contexts and pop it.
      def unpatched?(context, variable)
        return false unless variable && %i[attach detach].all? { |name| own?(context, name) }

        below = context.empty
        above = context.empty
        Fiber.new do
          tokens = [context.attach(below), context.attach(above)]
          stack = Fiber.current.instance_variable_get(variable)
          tokens == [1, 2] && stack == [below, above] &&
            context.detach(2) && stack == [below] && context.detach(1) && stack.empty?
        end.resume
      end
    end
  end
end
