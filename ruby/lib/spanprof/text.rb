# frozen_string_literal: true

module Spanprof
  # Any object as text. A program's own `to_s` may raise; what another thread
  # raises in ours meanwhile (Timeout does) is not ours to catch, and waits.
  # @api private
  module Text
    # @param object [Object] no String, which is its own text
    # @return [String] "" where the object has no text, which is logged
    def self.of(object)
      Thread.handle_interrupt(Object => :never) do
        text = object.to_s
        String === text ? text : ""
      rescue StandardError, ScriptError => e
        Logging.failed_once(:warn, "a #{object.class} has no text for a profile", e)
        ""
      end
    end
  end
end
