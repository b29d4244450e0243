# frozen_string_literal: true

require_relative "override"

module Spanprof
  # Hands on what there is before the process ends or becomes another program.
  #
  # An ordinary end is seen by a finalizer, not by at_exit: Ruby runs finalizers
  # after every at_exit handler and the end of every thread, so that programs
  # which live in at_exit (minitest, Sinatra) and what threads do last are
  # profiled too, and nobody competes for the VM lock any more.
  # @api private
  module Exit
    # Of the 2 s that are promised, what the rest of the way takes is kept back.
    TIMEOUT_MS = 1300

    # In the place of what Process and Kernel have.
    module Overrides
      # Ends the process at once, but for what was sampled.
      def exit!(...)
        Exit.finish
        spanprof_original_exit!(...)
      end

      # The new program knows nothing of ours.
      def exec(...)
        options = Exit.finish
        spanprof_original_exec(...)
      ensure
        # Only where exec failed is there a way back.
        Session.start(options) if options
      end
    end

    class << self
      def install
        at_exit { Logging.join_writer }
        # No Proc: a program that changes Proc#call changes none of ours.
        ObjectSpace.define_finalizer(@anchor = Object.new, Exit)
        [Process.singleton_class, Kernel.singleton_class, Kernel].each { |owner| Override.install(owner, Overrides) }
      end

      # Runs as a finalizer. Afterwards no session may start: only the exit handlers
      # of C could stop it, after Ruby has been finalised.
      def call(_object_id)
        @over = true
        finish
      end

      # @return [Boolean] whether this process has come to its end
      def over? = @over

      # In another Ractor than the main one there is no way back.
      # @return [Hash, nil] the options of the session that was stopped
      def finish
        return Native.finish_elsewhere(TIMEOUT_MS) unless Native.main_ractor?

        Session.uninterrupted { hand_on } if Session.running?
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
        Logging.say(:error, "the last profile is lost: #{e.message}")
      end

      def hand_on
        Native.finish(TIMEOUT_MS)
        Logging.deliver
        Session.options
      rescue StandardError => e
        Logging.say(:error, "the last profile is lost: #{e.message}")
        nil
      end
    end
  end
end
