# frozen_string_literal: true

module Spanprof
  # Takes the core's lines, which come from threads without the GVL, to the
  # program's logger.
  # @api private
  module Logging
    LEVELS = %i[debug info warn error].freeze
    MESSAGE_CHARACTERS = 200
    STDERR_LEVEL = LEVELS.index(:warn)
    JOIN_S = 0.2

    @waiting = []
    @said = {}

    class << self
      # @return [Logger, nil] set by the program; nil: {logger} looks for one
      attr_writer :logger

      # @return [Integer, nil] the least level that was asked for; nil: all to a
      #   logger, warnings to stderr
      attr_writer :level

      # @return [Array] logger and level as they were set, for {configuration=}
      def configuration
        [@logger, @level]
      end

      def configuration=(configuration)
        @logger, @level = configuration
      end

      def logger
        @logger || (::Rails.logger if defined?(::Rails) && ::Rails.respond_to?(:logger))
      end

      # Log one line at once, on this thread. Raises nothing itself: if the logger
      # fails the line goes to stderr, and if that fails, too, it is dropped.
      # @param level [Integer] an index of LEVELS
      def write(level, text)
        target = logger unless in_trap?
        return if level < (@level || (target ? 0 : STDERR_LEVEL))

        target ? target.public_send(LEVELS[level], "spanprof: #{text}") : last_resort(text)
      rescue StandardError, ScriptError
        last_resort(text)
      end

      # Write a line to stderr, or drop it. Kernel#warn cannot be used: the program
      # may have replaced Warning.warn, and stderr may be closed, full or without a
      # reader.
      def last_resort(text)
        return $stderr.write("spanprof: #{text}\n") if LOAD_ERROR || !$stderr.equal?(STDERR)

        Native.stderr_line(text) unless STDERR.closed?
      rescue StandardError, ScriptError
        nil
      end

      # @param level [Symbol] of LEVELS
      def say(level, text)
        write(LEVELS.index(level), text)
      end

      # The same sentence once in a process.
      def say_once(level, text)
        say(level, text) unless @said.key?(text)
        @said[text] = true
      end

      # What a program's own object raised: once for each class of error, whose
      # message may differ each time, and be as long as the object inspected.
      def failed_once(level, what, error)
        key = [what, error.class]
        say(level, "#{what}: #{error.class}: #{message_of(error)}") unless @said.key?(key)
        @said[key] = true
      end

      # The error's class may be the program's, and its `message` may raise.
      def message_of(error)
        error.message.to_s[0, MESSAGE_CHARACTERS]
      rescue StandardError, ScriptError
        ""
      end

      # Hand on what waits, on a thread that ends with it: a logger may block. On
      # this one where the system, or a frozen ThreadGroup, allows no other.
      # Where one is at it, it takes what came meanwhile, or the next call does.
      def deliver_soon
        return if @thread&.alive?

        # It would have the mask of this thread, and could not be ended.
        @thread = Thread.new { Thread.handle_interrupt(Object => :immediate) { serve } }
        # Puma counts the threads that an application starts before it forks
        # (puma 6, Cluster#run).
        @thread.thread_variable_set(:fork_safe, true)
        @thread.name = "spanprof-log"
      rescue ThreadError # none can be made
        deliver
      end

      # Before the end of the program, which kills whoever is at it: a line that is
      # being written would be written again.
      def join_writer
        @thread&.join(JOIN_S)
      end

      # After a fork: the parent hands its lines on itself.
      def forget
        @waiting.clear
      end

      # Everything that waits, on this thread.
      def deliver
        @waiting.concat(Native.log_lines)
        while (line = @waiting.shift)
          deliver_line(line)
        end
      end

      private

      # A Logger takes a lock, which a signal handler cannot.
      def in_trap?
        Thread::Mutex.new.synchronize { false }
      rescue ThreadError
        true
      end

      # A thread that is killed while it writes leaves the other lines to its
      # successor. Any other exception of a logger is rescued here: with
      # Thread.abort_on_exception it would end the program, and `exit` would in any
      # case.
      def serve
        Native.log_thread
        Thread.handle_interrupt(Object => :on_blocking) { deliver }
      rescue Exception # rubocop:disable Lint/RescueException
        @waiting.shift # the line that caused it
      end

      def deliver_line(line)
        write(*line)
        written = true
      ensure
        @waiting.unshift(line) unless written
      end
    end
  end
end
