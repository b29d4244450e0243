# frozen_string_literal: true

module Spanprof
  # The one session of this process, and why there is none.
  #
  # No Mutex here: a program may stop or start in a signal handler, where none
  # can be taken. The core has a lock of its own.
  # @api private
  module Session
    class << self
      # @return [Hash, nil] what the last start was given
      attr_reader :options

      def start(options)
        options = options.dup
        Logging.logger = options.delete(:logger) if options.key?(:logger)
        return refuse(LOAD_ERROR) if LOAD_ERROR

        native = Options.native(options)
        Logging.stderr_level = native[:log_level] || Logging::STDERR_LEVEL
        begin_native(native)
        @options = options
        @reason = nil
        true
      rescue StandardError => e
        refuse(e.message, e)
      end

      def stop(timeout)
        running? ? Native.stop(milliseconds(timeout)) : nil
      end

      def flush(timeout)
        running? ? Native.flush(milliseconds(timeout)) : nil
      end

      def running?
        LOAD_ERROR.nil? && Native.running?
      end

      def unavailable_reason
        LOAD_ERROR || @reason
      end

      private

      def begin_native(native)
        Native.stop(2000)
        Logging.start
        Native.start(native)
      end

      def milliseconds(seconds)
        (seconds * 1000).clamp(0, 0xffff_ffff).to_i
      end

      def refuse(reason, error = nil)
        @reason = reason
        raise error || Error, reason if ENV["SPANPROF_REQUIRED"] == "1"

        Logging.say(error.is_a?(Disabled) ? :info : :warn, "not profiling: #{reason}")
        false
      end
    end
  end
  private_constant :Session
end
