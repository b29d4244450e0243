# frozen_string_literal: true

module Spanprof
  # Converts any object to text. The program may have defined the object's `to_s`, which may raise
  # an exception. Exceptions of other threads (Timeout) are deferred, because this code must not
  # rescue them.
  # @api private
  module Text
    # @param object [Object] not a String
    # @return [String] the text; "" if to_s fails, which is logged
    def self.of(object)
      Thread.handle_interrupt(Object => :never) do
        text = object.to_s
        String === text ? text : ""
      rescue StandardError, ScriptError => e
        Logging.log_error_once(:warn, "to_s of a #{object.class} failed", e)
        ""
      end
    end
  end
end
