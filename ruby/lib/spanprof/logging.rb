# frozen_string_literal: true

module Spanprof
  # Takes the core's lines, which come from threads without the GVL, to the
  # program's logger.
  # @api private
  module Logging
    LEVELS = %i[debug info warn error].freeze
    MESSAGE_CHARACTERS = 200
    STDERR_LEVEL = LEVELS.index(:warn)

    @waiting = []
    @said = {}
    @turn = nil

    class << self
      # @return [Logger, nil] set by the program; nil: {logger} looks for one
      attr_writer :logger

      # @return [Integer, nil] the least level that was asked for; nil: all to a
      #   logger, warnings to stderr
      attr_writer :level

      def logger
        @logger || (::Rails.logger if defined?(::Rails) && ::Rails.respond_to?(:logger))
      end

      # Hand on one line, now, on this thread.
      # @param level [Integer] an index of LEVELS
      def write(level, text)
        target = logger unless in_trap?
        return if level < (@level || (target ? 0 : STDERR_LEVEL))

        target ? target.public_send(LEVELS[level], "spanprof: #{text}") : print("spanprof: #{text}\n")
      rescue StandardError
        # The program's logger is broken; its owner may look at stderr.
        STDERR.write("spanprof: #{text}\n") unless STDERR.closed?
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
        say(level, "#{what}: #{error.class}: #{error.message.to_s[0, MESSAGE_CHARACTERS]}") unless @said.key?(key)
        @said[key] = true
      end

      # Have lines handed on as they come, in this process, until {stop}.
      def start
        return if @thread&.alive?

        @turn = turn = Object.new
        @thread = Thread.new { serve(turn) }
        # Puma counts the threads that an application starts before it forks
        # (puma 6, Cluster#run); this one is started anew in the child.
        @thread.thread_variable_set(:fork_safe, true)
        @thread.name = "spanprof-log"
      end

      # No thread of ours is to keep Ruby from seeing a deadlock of the
      # program's.
      def stop
        @turn = nil
        thread, @thread = @thread, nil
        thread.wakeup if thread&.alive?
      rescue ThreadError
        # It has just ended.
      end

      # After a fork: the parent hands its lines on itself.
      def restart
        @waiting.clear
        start
      end

      # Everything that waits, on this thread.
      def deliver
        @waiting.concat(Native.log_take)
        while (line = @waiting.shift)
          hand_on(line)
        end
      end

      private

      # Without giving the GVL away, where that is possible.
      def print(line)
        at_once = !LOAD_ERROR && $stderr.equal?(STDERR) && Native.stderr_write(line)
        $stderr.write(line) unless at_once
      end

      # A Logger takes a lock, which a signal handler cannot.
      def in_trap?
        Thread::Mutex.new.synchronize { false }
      rescue ThreadError
        true
      end

      # A thread that is killed while it writes leaves the rest to {deliver}.
      def serve(turn)
        Thread.handle_interrupt(Object => :on_blocking) do
          while turn.equal?(@turn)
            Native.log_wait
            deliver
          end
        end
      end

      def hand_on(line)
        write(*line)
        written = true
      ensure
        @waiting.unshift(line) unless written
      end
    end
  end
end
