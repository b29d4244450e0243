# frozen_string_literal: true

module Spanprof
  # Gems that this one takes the place of.
  # @api private
  module ReplacedGems
    NAMES = %w[pyroscope pyroscope-otel].freeze

    class << self
      # Says so, once, where one of them is active too: which of the two files
      # called pyroscope.rb is loaded is then a matter of chance.
      def warn_if_loaded
        return unless defined?(::Gem)

        found = NAMES & Gem.loaded_specs.keys
        return if found.empty?

        Logging.say_once(:warn, "the gem #{found.join(" and ")} is loaded beside spanprof, which takes its place: " \
                                "remove it from the Gemfile")
      end
    end
  end
end
