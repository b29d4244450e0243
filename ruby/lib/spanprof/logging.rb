# frozen_string_literal: true

module Spanprof
  # Passes the core's log lines, which threads without the GVL write, to the program's logger.
  # @api private
  module Logging
    LEVELS = %i[debug info warn error].freeze
    MESSAGE_CHARACTERS = 200
    STDERR_LEVEL = LEVELS.index(:warn)
    JOIN_S = 0.2

    @waiting = []
    @logged = {}

    class << self
      # @return [Logger, nil] the logger that the program has set; if it is nil, {logger} looks for
      #   one
      attr_writer :logger

      # @return [Integer, nil] the least severe level to log; nil for the default: all levels with a
      #   logger, warnings on stderr
      attr_writer :level

      # @return [Array] the logger and the level as they were set, for {configuration=}
      def configuration
        [@logger, @level]
      end

      def configuration=(configuration)
        @logger, @level = configuration
      end

      def logger
        @logger || (::Rails.logger if defined?(::Rails) && ::Rails.respond_to?(:logger))
      end

      # Log one line immediately, on this thread. Raises nothing itself: if the logger fails, the
      # line goes to stderr; if that fails, too, the line is dropped.
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

      # @param level [Symbol] one of LEVELS
      def log(level, text)
        write(LEVELS.index(level), text)
      end

      # Log a sentence only once in a process.
      def log_once(level, text)
        log(level, text) unless @logged.key?(text)
        @logged[text] = true
      end

      # Log an error that an object of the program has raised, once for each class of error. Each
      # message would be too much: it may differ each time, and it may be as long as the text of an
      # inspected object.
      def log_error_once(level, what, error)
        key = [what, error.class]
        log(level, "#{what}: #{error.class}: #{message_of(error)}") unless @logged.key?(key)
        @logged[key] = true
      end

      # Returns the error's message, or "" if `message` raises. The program may have defined the
      # error's class.
      def message_of(error)
        error.message.to_s[0, MESSAGE_CHARACTERS]
      rescue StandardError, ScriptError
        ""
      end

      # Deliver the waiting lines on a temporary thread, because a logger may block. If the system
      # or a frozen ThreadGroup allows no new thread, deliver them on this thread. If the thread of
      # an earlier delivery still runs, it also delivers the new lines, or the next call does.
      def deliver_soon
        return if @thread&.alive?

        # Without its own mask, the new thread would inherit the interrupt mask of this thread,
        # which may make it impossible to end the thread.
        @thread = Thread.new { Thread.handle_interrupt(Object => :immediate) { serve } }
        # Puma warns about threads that an application starts before Puma forks, except those with
        # this variable (puma 6, Cluster#run).
        @thread.thread_variable_set(:fork_safe, true)
        @thread.name = "spanprof-log"
      rescue ThreadError # no thread could be created
        deliver
      end

      # Wait for the thread that delivers lines. Called before the exit, because the exit would kill
      # the thread while it writes a line, and the line would be written again.
      def join_writer
        @thread&.join(JOIN_S)
      end

      # Drop the waiting lines. Called in a forked child, because the parent process delivers these
      # lines.
      def forget
        @waiting.clear
      end

      # Deliver all waiting lines on this thread.
      def deliver
        @waiting.concat(Native.log_lines)
        while (line = @waiting.shift)
          deliver_line(line)
        end
      end

      private

      # Whether this code runs in a signal handler. A Logger locks a mutex, which is not allowed
      # there.
      def in_trap?
        Thread::Mutex.new.synchronize { false }
      rescue ThreadError
        true
      end

      # Deliver all waiting lines; runs on the temporary thread. If this thread is killed while it
      # writes a line, the next thread writes the remaining lines. All other exceptions that a
      # logger raises are rescued here. Otherwise they would end the program if
      # Thread.abort_on_exception is set, and `exit` in a logger would end it in any case.
      def serve
        Native.log_thread
        Thread.handle_interrupt(Object => :on_blocking) { deliver }
      rescue Exception # rubocop:disable Lint/RescueException
        @waiting.shift # drop the line that caused the exception
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
