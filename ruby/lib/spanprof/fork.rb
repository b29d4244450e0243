# frozen_string_literal: true

require_relative "override"

module Spanprof
  # Continues profiling in a forked child. The core restarts its own threads (pthread_atfork); this
  # module restarts the Ruby threads, which end at a fork.
  #
  # fork, Process.fork and IO.popen("-"), which Puma, Unicorn and Resque use, call Process._fork.
  # Process.daemon forks without it (https://docs.ruby-lang.org/en/3.1/Process.html#method-c-_fork).
  # @api private
  module Fork
    # Replacements for methods of Process.
    module Overrides
      # @return [Integer] as the original
      def _fork
        pid = spanprof_original__fork
        Fork.in_child if pid.zero? && Native.main_ractor?
        pid
      end

      # The C library ends the calling process without exit handlers, so its samples are flushed
      # before.
      # @return [Integer] as the original
      def daemon(...)
        Exit.flush if Native.main_ractor?
        status = spanprof_original_daemon(...)
        Fork.in_child if Native.main_ractor?
        status
      end
    end

    class << self
      def install
        Override.install(Process.singleton_class, Overrides)
      end

      def in_child
        Session.uninterrupted { continue } if Session.running?
      end

      private

      def continue
        Logging.forget
        Native.after_fork_child
      rescue StandardError => e
        Logging.log(:error, "profiling after a fork is not complete: #{e.message}")
      end
    end
  end
end
