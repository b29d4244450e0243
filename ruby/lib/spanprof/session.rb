# frozen_string_literal: true

module Spanprof
  # The one session of this process, and why there is none.
  #
  # No Mutex here: a program may stop or start in a signal handler, where none
  # can be taken. The core has a lock of its own.
  # @api private
  module Session
    # What a session that makes room for another may take, in ms.
    RESTART_MS = 2000

    @reason = nil
    @installed = false

    class << self
      # @return [Hash, nil] what the last start was given
      attr_reader :options

      # @param options [Hash{Symbol => Object}] of {Spanprof.start}
      # @param names [Hash{Symbol => Symbol}] what the program calls them, if
      #   otherwise, for the log
      # @return [Boolean] whether it profiles
      def start(options, names = {})
        Logging.logger = options[:logger] if options.key?(:logger)
        return refuse(LOAD_ERROR) if LOAD_ERROR

        install
        Native.stop(RESTART_MS)
        begin_native(Options.native(options))
        @options = options
        @reason = nil
        Neighbours.look
        instrument
        true
      rescue StandardError => e
        refuse(named(e.message, names), e)
      end

      def stop(timeout)
        return unless running?

        Native.stop(milliseconds(timeout)).tap { Logging.stop }
      end

      def flush(timeout)
        Native.flush(milliseconds(timeout)) if running?
      end

      def running?
        LOAD_ERROR.nil? && Native.running?
      end

      # Label requests and jobs of the frameworks that are loaded by now, unless
      # the options say not to.
      def instrument
        Instrument.install if running? && options.fetch(:autoinstrument_rails, true)
      end

      def unavailable_reason
        LOAD_ERROR || @reason || Native.unavailable_reason
      end

      private

      def begin_native(options)
        Logging.level = options[:log_level] || Options.environment_level
        Logging.start
        Native.start(options)
      end

      def install
        return if @installed

        @installed = true
        Fork.install
        Exit.install
      end

      def milliseconds(seconds)
        (seconds * 1000).clamp(0, 0xffff_ffff).to_i
      end

      def named(sentence, names)
        { label_pairs: :labels }.merge(names).reduce(sentence) do |text, (name, called)|
          text.gsub(/\b#{name}\b/, called.name)
        end
      end

      def refuse(reason, error = Error.new(reason))
        @reason = reason
        Logging.stop unless LOAD_ERROR || running?
        raise error if ENV["SPANPROF_REQUIRED"] == "1"

        Logging.say(error.is_a?(Disabled) ? :info : :warn, "not profiling: #{reason}")
        false
      end
    end
  end
end
