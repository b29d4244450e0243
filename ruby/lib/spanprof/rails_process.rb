# frozen_string_literal: true

module Spanprof
  # What this process of a Rails application was started for. Only one that
  # serves requests or works off jobs is worth a profile; profiles of a console
  # or a migration would mix with those of the service.
  # @api private
  module RailsProcess
    # Programs that load an application for something else.
    TOOLS = %w[
      annotate annotaterb cucumber irb pry rails rake rspec ruby-lsp solargraph spring tapioca
    ].freeze

    class << self
      # @return [String, nil] what else it is for, "a test"; nil: it serves
      def purpose
        return "a test" if ::Rails.env.test?
        return if defined?(::Rails::Server)
        return "a console" if defined?(::Rails::Console)

        "the program #{program}" if TOOLS.include?(program)
      end

      private

      # Some write their state behind their name: "spring app | shop | …".
      def program
        File.basename($PROGRAM_NAME)[/\A\S*/]
      end
    end
  end
end
