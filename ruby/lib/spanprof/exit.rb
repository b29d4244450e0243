# frozen_string_literal: true

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

    # Prepended to Process.
    module Hook
      # Ends the process at once, but for what was sampled.
      def exit!(...)
        Exit.finish
        super
      end

      # The new program knows nothing of ours.
      def exec(...)
        options = Exit.finish
        super
      ensure
        # Only where exec failed is there a way back.
        Session.start(options) if options
      end
    end

    # Prepended to Kernel, where the methods are private.
    module KernelHook
      include Hook
      private :exit!, :exec
    end

    class << self
      def install
        ObjectSpace.define_finalizer(@anchor = Object.new, proc { Exit.finish })
        [Process.singleton_class, Kernel.singleton_class].each { |owner| owner.prepend(Hook) }
        Kernel.prepend(KernelHook)
      end

      # @return [Hash, nil] the options of the session that was stopped
      def finish
        return unless Session.running?

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
