# frozen_string_literal: true

module Spanprof
  # Determines the purpose of a process of a Rails application. Only processes that serve requests
  # or run jobs are profiled: profiles of a console or a migration would mix with those of the
  # service.
  # @api private
  module RailsProcess
    # Programs that load an application for another purpose.
    TOOLS = %w[
      annotate annotaterb cucumber irb pry rails rake rspec ruby-lsp solargraph spring tapioca
    ].freeze

    class << self
      # @return [String, nil] the purpose; nil if the process serves requests or runs jobs
      def purpose
        return "a test" if ::Rails.env.test?
        return if defined?(::Rails::Server)
        return "a console" if defined?(::Rails::Console)

        "the program #{program}" if TOOLS.include?(program)
      end

      private

      # Returns the name of the program without its state, which some programs add: "spring app |
      # shop | …".
      def program
        File.basename($PROGRAM_NAME)[/\A\S*/]
      end
    end
  end
end
