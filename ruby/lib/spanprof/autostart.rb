# frozen_string_literal: true

# Profiles the program that is about to run, as the environment says:
#
#   RUBYOPT=-rspanprof/autostart PYROSCOPE_SERVER_ADDRESS=http://localhost:4040 ruby app.rb
#
# With OpenTelemetry's SDK in the program its spans are followed, as if it had
# added Spanprof::Otel::SpanProcessor.new itself.

require_relative "../spanprof"
require_relative "autostart/require_watch"
require_relative "autostart/spans"

module Spanprof
  # @api private
  module Autostart
    NAMES = %w[PYROSCOPE_APPLICATION_NAME OTEL_SERVICE_NAME].freeze

    class << self
      def run
        name = program_name if NAMES.none? { |variable| ENV.fetch(variable, "") != "" } && !resource_name?
        Spanprof.start(**{ application_name: name }.compact)
        RequireWatch.install
      end

      private

      def resource_name?
        ENV.fetch("OTEL_RESOURCE_ATTRIBUTES", "").match?(/(\A|,)\s*service\.name\s*=/)
      end

      # A program that nobody named is called like its file.
      def program_name
        name = File.basename($PROGRAM_NAME, ".rb")
        name.empty? || name.start_with?("-") ? "ruby" : name
      end
    end
  end
end

Spanprof::Autostart.run
