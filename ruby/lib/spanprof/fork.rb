# frozen_string_literal: true

module Spanprof
  # A forked child goes on profiling by itself: the core restarts its threads
  # below Ruby (pthread_atfork); here come the Ruby threads, which fork ends.
  #
  # Process._fork is behind fork, Process.fork and IO.popen("-"), and so behind
  # Puma, Unicorn and Resque; Process.daemon forks without it
  # (https://docs.ruby-lang.org/en/3.1/Process.html#method-c-_fork).
  # @api private
  module Fork
    # Prepended to Process.
    module Hook
      # @return [Integer] as the original
      def _fork
        pid = super
        Fork.in_child if pid.zero?
        pid
      end

      # @return [Integer] as the original
      def daemon(...)
        status = super
        Fork.in_child
        status
      end
    end

    class << self
      def install
        Process.singleton_class.prepend(Hook)
      end

      def in_child
        return unless Session.running?

        Logging.restart
        Native.after_fork_child
      rescue StandardError => e
        Logging.say(:error, "profiling after a fork is not complete: #{e.message}")
      end
    end
  end
end
