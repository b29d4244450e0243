# frozen_string_literal: true

module Spanprof
  # Detects when the program has loaded a library that this gem extends: a TracePoint calls this
  # module when the body of a module or class ends. (A wrapper of Kernel#require would appear in the
  # backtrace of each file that is loaded.)
  # @api private
  module LoadWatch
    @awaited = {}

    class << self
      # @return [Boolean] whether the program may still load any library, because its bundle is not
      #   known yet
      attr_writer :early

      # Whether a library is loaded or may be loaded later. Only such a library is worth waiting
      # for, because during the wait each class body that ends costs a check.
      # @param name [String] the library's module
      # @param gem [String] the gem with this module
      def expected?(name, gem)
        @early || !loaded(name).nil? || (defined?(::Gem) && ::Gem.loaded_specs.key?(gem))
      end

      # Call the block once: now if the library is already loaded, otherwise as soon as it is
      # loaded.
      # @param name [String] the library's module
      # @param method [Symbol] a method that the module has when it is ready for use
      def await(name, method, &added)
        @awaited[name] = [method, added]
        look
        return if @awaited.empty?

        @trace ||= TracePoint.new(:end) { look }
        @trace.enable unless @trace.enabled?
      end

      # Do not wait for a library any longer.
      # @param name [String] the library's module
      def forget(name)
        @awaited.delete(name).tap { @trace&.disable if @awaited.empty? }
      end

      private

      def look
        @awaited.each_key.select { |name| loaded(name)&.respond_to?(@awaited[name].first) }.each do |name|
          _, added = forget(name) # nil if another thread has already called the block
          added&.call
        end
      rescue StandardError => e
        Logging.log_once(:warn, "libraries that are loaded later are not instrumented: #{e.message}")
      end

      # Returns the module if it is loaded. Does not trigger an autoload.
      def loaded(name)
        name.split("::").reduce(Object) do |outer, inner|
          break if outer.autoload?(inner) || !outer.const_defined?(inner, false)

          outer.const_get(inner, false)
        end
      end
    end
  end
end
