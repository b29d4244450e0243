# frozen_string_literal: true

require_relative "override"

module Spanprof
  # Continues profiling in a forked child. The core restarts its own threads (pthread_atfork); this
  # module restarts the Ruby threads, which end at a fork.
  #
  # All of fork, Process.fork and IO.popen("-") call Process._fork; Puma, Unicorn and Resque use
  # them. Only Process.daemon forks without Process._fork
  # (https://docs.ruby-lang.org/en/3.1/Process.html#method-c-_fork).
  # @api private
  module Fork
    # Replacements for methods of Process.
    module Overrides
      # @return [Integer] the process id that the original method returns
      def _fork
        pid = spanprof_original__fork
        Fork.in_child if pid.zero? && Native.main_ractor?
        pid
      end

      # Flushes the samples first, because daemon(3) ends the calling process without exit handlers.
      # @return [Integer] the result of the original method
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
        Logging.log(:error, "this forked process is not completely profiled: #{e.message}")
      end
    end
  end
end
