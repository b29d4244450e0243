# frozen_string_literal: true

module Spanprof
  # Gems that this gem replaces.
  # @api private
  module ReplacedGems
    NAMES = %w[pyroscope pyroscope-otel].freeze

    class << self
      # Warns once if one of these gems is loaded, too. Each of them and spanprof have a file
      # pyroscope.rb, and `require` may load either.
      def warn_if_loaded
        return unless defined?(::Gem)

        found = NAMES & Gem.loaded_specs.keys
        return if found.empty?

        Logging.log_once(:warn, "the gem #{found.join(" and ")} is loaded next to spanprof, which replaces it: " \
                                "remove it from the Gemfile")
      end
    end
  end
end
