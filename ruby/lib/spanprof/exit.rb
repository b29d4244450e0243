# frozen_string_literal: true

require_relative "override"

module Spanprof
  # Delivers the last samples before the process exits or executes another program.
  #
  # A finalizer of an object, and not an at_exit handler, detects a regular exit: Ruby runs
  # finalizers after all at_exit handlers and after all threads have ended. So programs that run in
  # at_exit (minitest, Sinatra) and the last actions of threads are profiled, too, and no thread
  # competes for the VM lock any more.
  # @api private
  module Exit
    # Maximum duration of the stop. The documentation promises an exit within 2 s; the difference is
    # for the other steps of the exit.
    TIMEOUT_MS = 1300

    # Replacements for methods of Process and Kernel.
    module Overrides
      # Ends the process at once, after the delivery of the samples.
      def exit!(...)
        Exit.finish
        spanprof_original_exit!(...)
      end

      # Delivers the samples, because they are lost when the new program replaces this one.
      def exec(...)
        options = Exit.finish
        spanprof_original_exec(...)
      ensure
        # exec returns only if it failed.
        Session.start(options) if options
      end
    end

    class << self
      def install
        at_exit { Logging.join_writer }
        # The finalizer is not a Proc, so that programs which patch Proc#call do not affect it.
        ObjectSpace.define_finalizer(@anchor = Object.new, Exit)
        [Process.singleton_class, Kernel.singleton_class, Kernel].each { |owner| Override.install(owner, Overrides) }
      end

      # Ruby calls this as a finalizer. No session may start afterwards, because only an exit
      # handler in C could stop it, and that runs when the Ruby VM no longer exists.
      def call(_object_id)
        @exiting = true
        finish
      end

      # @return [Boolean] whether this process is exiting
      def exiting? = @exiting

      # Stop the session and deliver its samples. In a Ractor other than the main one, returns nil,
      # because a session cannot be started again there.
      # @return [Hash, nil] the options of the session that was stopped
      def finish
        return Native.finish_elsewhere(TIMEOUT_MS) unless Native.main_ractor?

        Session.uninterrupted { deliver } if Session.running?
      end

      # Flush without stopping the session, which continues in this process or in
      # its child.
      def flush
        Session.uninterrupted { flush_once } if Session.running?
      end

      private

      def flush_once
        Native.flush_once(TIMEOUT_MS)
        Logging.deliver
      rescue StandardError => e
        Logging.log(:error, "the last profile is lost: #{e.message}")
      end

      def deliver
        Native.finish(TIMEOUT_MS)
        Logging.deliver
        Session.options
      rescue StandardError => e
        Logging.log(:error, "the last profile is lost: #{e.message}")
        nil
      end
    end
  end
end
