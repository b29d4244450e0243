# frozen_string_literal: true

module Spanprof
  # Gems that this one takes the place of.
  # @api private
  module Neighbours
    REPLACED = %w[pyroscope pyroscope-otel].freeze

    class << self
      # Says so, once, where one of them is active too: which of the two files
      # called pyroscope.rb is loaded is then a matter of chance.
      def look
        return unless defined?(::Gem)

        found = REPLACED & Gem.loaded_specs.keys
        return if found.empty?

        Logging.say_once(:warn, "the gem #{found.join(" and ")} is loaded beside spanprof, which takes its place: " \
                                "remove it from the Gemfile")
      end
    end
  end
end
