# frozen_string_literal: true

# Profiles the program that is about to run, as the environment says:
#
#   RUBYOPT=-rspanprof/autostart PYROSCOPE_SERVER_ADDRESS=http://localhost:4040 ruby app.rb
#
# With OpenTelemetry's SDK in the program its spans are followed, as if it had
# added Spanprof::Otel::SpanProcessor.new itself.

require_relative "../spanprof"
require_relative "autostart/load_watch"
require_relative "autostart/spans"

module Spanprof
  # @api private
  module Autostart
    class << self
      def run
        Spanprof.start
        LoadWatch.install
      end
    end
  end
end

Spanprof::Autostart.run
