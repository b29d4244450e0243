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

    # What a stop and a flush may take where no number is given.
    STOP_S = 2
    FLUSH_S = 10

    @reason = nil
    @installed = @asked = false

    class << self
      # @return [Hash, nil] what the last start was given
      attr_reader :options

      # @param options [Hash{Symbol => Object}] of {Spanprof.start}
      # @param names [Hash{Symbol => Symbol}] what the program calls them, if
      #   otherwise, for the log
      # @return [Boolean] whether it profiles as they say; if not, what ran goes
      #   on, with the logger it had
      def start(options, names = {})
        return false if other_ractor?

        @asked = true
        uninterrupted { begin_with(options, names) }
      end

      # @return [Boolean] whether this process, or the one that forked it, has
      #   ever asked for a session, whatever became of it
      def asked?
        @asked
      end

      # No session: nobody asked, and `reason` is why that is right.
      # @param reason [String]
      def decline(reason)
        @reason = reason
        Logging.say(:debug, "not profiling: #{reason}")
      end

      # What other threads, timeouts and signals raise here meanwhile is not ours
      # to rescue: it waits until the block is done.
      def uninterrupted(&block)
        Thread.handle_interrupt(Object => :never, &block)
      end

      def stop(timeout)
        return if other_ractor? || !running?

        Native.stop(milliseconds(timeout, STOP_S)).tap { unprofiled }
      end

      def flush(timeout)
        Native.flush(milliseconds(timeout, FLUSH_S)) unless other_ractor? || !running?
      end

      def pause
        Native.pause unless other_ractor? || !running?
      end

      # Of a pause; `resume` below is of a start that failed.
      def unpause
        Native.resume unless other_ractor? || !running?
      end

      def running?
        LOAD_ERROR.nil? && Native.running?
      end

      # In another Ractor than the main one, where nothing of ours does anything.
      def other_ractor?
        LOAD_ERROR.nil? && !Native.main_ractor?
      end

      # Label requests and jobs of the frameworks that are loaded by now, unless
      # the options say not to.
      def instrument
        return unless running?

        Instrument.wanted = options.fetch(:autoinstrument_rails, true)
        Instrument.install if Instrument.wanted
      end

      def unavailable_reason
        return "a Ractor cannot profile the process: only the main one can" if other_ractor?

        LOAD_ERROR || @reason || Native.unavailable_reason
      end

      private

      def begin_with(options, names)
        logging = Logging.configuration
        options = options.transform_keys { |name| name.to_s.to_sym }
        Logging.logger = options[:logger] if options.key?(:logger)
        return refuse(LOAD_ERROR) if LOAD_ERROR
        return refuse("the process has come to its end") if Exit.over?

        install
        replace(options)
        @reason = logging = nil
        ReplacedGems.warn_if_loaded
        instrument
        true
      rescue StandardError => e
        refuse(named(e.message, names), e)
      ensure
        Logging.configuration = logging if logging && running?
      end

      # What runs ends only where the new options are good.
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

      # Where the system refused the other one.
      def resume(options)
        Native.start(options) # false: another thread's runs, which will do
      rescue Error => e
        Logging.say(:error, "the former session cannot go on: #{e.message}")
      end

      # What a program does for us costs it nothing any more.
      def unprofiled
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
      rescue ArgumentError, TypeError, RangeError # FloatDomainError is one
        Logging.say_once(:warn, "a timeout is a number of seconds, not #{seconds.inspect}: #{default} s are waited")
        default * 1000
      end

      # With the options as the program calls them, but for what it quotes.
      def named(sentence, names)
        called = names.transform_keys(&:name)
        sentence.gsub(/"(?:[^"\\]|\\.)*"|\w+/) { |word| called.fetch(word, word).to_s }
      end

      def refuse(reason, error = Error.new(reason))
        @reason = reason unless running?
        unprofiled unless LOAD_ERROR
        raise error if ENV["SPANPROF_REQUIRED"] == "1"

        what = running? ? "profiling goes on as before" : "not profiling"
        Logging.say(error.is_a?(Disabled) ? :info : :warn, "#{what}: #{reason}")
        false
      end
    end
  end
end
