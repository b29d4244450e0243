# frozen_string_literal: true

module Spanprof
  # Learns when the program has loaded a library that we have something to add
  # to: when the body of its module ends. Who wraps Kernel#require instead stands
  # in the backtrace of every file that is loaded.
  # @api private
  module LoadWatch
    @awaited = {}

    class << self
      # Whether anything may still be loaded: the bundle is not known.
      attr_writer :early

      # Whether a library is there, or is to be expected: each class that ends
      # costs a look meanwhile.
      # @param name [String] of the library's module
      # @param gem [String] that has it
      def comes?(name, gem)
        @early || !loaded(name).nil? || (defined?(::Gem) && ::Gem.loaded_specs.key?(gem))
      end

      # Calls the block once: now, if the library is there, else when it is.
      # @param name [String] of the library's module
      # @param method [Symbol] what the module answers to once it is of use
      def await(name, method, &added)
        @awaited[name] = [method, added]
        look
        return if @awaited.empty?

        @trace ||= TracePoint.new(:end) { look }
        @trace.enable unless @trace.enabled?
      end

      # What has not come by now is not waited for any longer.
      # @param name [String] as given to {await}
      def forget(name)
        @awaited.delete(name).tap { @trace&.disable if @awaited.empty? }
      end

      private

      def look
        @awaited.each_key.select { |name| loaded(name)&.respond_to?(@awaited[name].first) }.each do |name|
          _, added = forget(name) # nil: another thread was first
          added&.call
        end
      rescue StandardError => e
        Logging.say_once(:warn, "what is loaded is not looked at: #{e.message}")
      end

      # Without loading anything (autoload).
      def loaded(name)
        name.split("::").reduce(Object) do |outer, inner|
          break if outer.autoload?(inner) || !outer.const_defined?(inner, false)

          outer.const_get(inner, false)
        end
      end
    end
  end
end
