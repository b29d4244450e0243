# frozen_string_literal: true

module Spanprof
  # The session of this process, or the reason if there is none.
  #
  # This module has no Mutex: a program may stop or start a session in a signal handler, where
  # locking a Mutex is not allowed. The core has its own lock.
  # @api private
  module Session
    # Maximum duration, in ms, of the stop of a session that another session replaces.
    RESTART_MS = 2000

    # Default timeouts of stop and flush, in seconds.
    STOP_S = 2
    FLUSH_S = 10

    @reason = nil
    @installed = @requested = false

    class << self
      # @return [Hash, nil] the options of the last start
      attr_reader :options

      # @param options [Hash{Symbol => Object}] options of {Spanprof.start}
      # @param names [Hash{Symbol => Symbol}] for options that the program calls by another name:
      #   that name, for the log
      # @return [Boolean] whether a session with these options runs; if not, an earlier session
      #   continues with its logger
      def start(options, names = {})
        return false if other_ractor?

        @requested = true
        uninterrupted { begin_with(options, names) }
      end

      # @return [Boolean] whether this process, or the process that forked it, has ever tried to
      #   start a session
      def requested?
        @requested
      end

      # Store the reason for not starting a session, unless the program has started one.
      # @param reason [String]
      def decline(reason)
        @reason = reason
        Logging.log(:debug, "not profiling: #{reason}")
      end

      # Defer exceptions of other threads, timeouts and signals until the block has ended, because
      # this code must not rescue them.
      def uninterrupted(&block)
        Thread.handle_interrupt(Object => :never, &block)
      end

      def stop(timeout)
        return if other_ractor? || !running?

        Native.stop(milliseconds(timeout, STOP_S)).tap { remove_hooks }
      end

      def flush(timeout)
        Native.flush(milliseconds(timeout, FLUSH_S)) unless other_ractor? || !running?
      end

      def pause
        Native.pause unless other_ractor? || !running?
      end

      # Ends a pause. (The method `resume` below continues a session after a failed start of another
      # one.)
      def unpause
        Native.resume unless other_ractor? || !running?
      end

      def running?
        LOAD_ERROR.nil? && Native.running?
      end

      # Whether this Ractor is not the main one. The gem does nothing in other Ractors.
      def other_ractor?
        LOAD_ERROR.nil? && !Native.main_ractor?
      end

      # Label requests and jobs of the loaded frameworks, unless the options disable it.
      def instrument
        return unless running?

        Instrument.enabled = options.fetch(:autoinstrument_rails, true)
        Instrument.install if Instrument.enabled
      end

      def unavailable_reason
        return "only the main Ractor can profile the process" if other_ractor?

        LOAD_ERROR || @reason || Native.unavailable_reason
      end

      private

      def begin_with(options, names)
        logging = Logging.configuration
        options = options.transform_keys { |name| name.to_s.to_sym }
        Logging.logger = options[:logger] if options.key?(:logger)
        return refuse(LOAD_ERROR) if LOAD_ERROR
        return refuse("the process is exiting") if Exit.exiting?

        install
        replace(options)
        @reason = logging = nil
        ReplacedGems.warn_if_loaded
        instrument
        true
      rescue StandardError => e
        refuse(with_program_names(e.message, names), e)
      ensure
        Logging.configuration = logging if logging && running?
      end

      # The running session stops only if the new options are valid.
      def replace(options)
        Options.check_names(options.keys, Options::NAMES)
        Options.check_own(options)
        Logging.level = Options.level(options)
        Native.check(options)
        former = @options if running?
        Native.stop(RESTART_MS) until Native.start(options)
        Native.follow_update
        @options = options
      rescue StandardError
        resume(former) if former && !running?
        raise
      end

      # Start the former session again. Called if the start of the new session failed.
      def resume(options)
        Native.start(options) # false if another thread has started a session, which then continues
      rescue Error => e
        Logging.log(:error, "the previous session cannot be started again: #{e.message}")
      end

      # Remove the hooks that cost time in the program, if no session runs.
      def remove_hooks
        Native.follow_update
        Logging.deliver_soon
      end

      def install
        return if @installed

        @installed = true
        Fork.install
        Exit.install
      end

      def milliseconds(seconds, default)
        (Float(seconds || default) * 1000).clamp(0, 0xffff_ffff).to_i
      rescue ArgumentError, TypeError, RangeError # FloatDomainError is a RangeError
        Logging.log_once(:warn, "a timeout must be a number of seconds, not #{seconds.inspect}: #{default} s is used")
        default * 1000
      end

      # Replace the names of options by the program's names, except in quoted text.
      def with_program_names(sentence, names)
        called = names.transform_keys(&:name)
        sentence.gsub(/"(?:[^"\\]|\\.)*"|\w+/) { |word| called.fetch(word, word).to_s }
      end

      def refuse(reason, error = Error.new(reason))
        @reason = reason unless running?
        remove_hooks unless LOAD_ERROR
        raise error if ENV["SPANPROF_REQUIRED"] == "1"

        what = running? ? "profiling continues as before" : "not profiling"
        Logging.log(error.is_a?(Disabled) ? :info : :warn, "#{what}: #{reason}")
        false
      end
    end
  end
end
