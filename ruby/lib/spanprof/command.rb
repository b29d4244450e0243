# frozen_string_literal: true

require_relative "../spanprof"

module Spanprof
  # The program `spanprof`: the core's, and `exec`.
  # @api private
  module Command
    USAGE = "usage: spanprof exec [--] PROGRAM [ARGUMENT...]\n\n" \
            "Runs PROGRAM with every Ruby in it profiled, as the variables PYROSCOPE_* say.\n"

    class << self
      # @param arguments [Array<String>] of the command line
      # @return [Integer] exit status
      def run(arguments)
        return execute(arguments.drop(1)) if arguments.first == "exec"
        return Native.command(["spanprof", *arguments]) unless LOAD_ERROR

        warn "spanprof: #{LOAD_ERROR}"
        1
      end

      private

      def execute(arguments)
        return usage(0, $stdout) if %w[--help -h].include?(arguments.first)

        arguments = arguments.drop(1) if arguments.first == "--"
        return usage(2, $stderr) if arguments.empty?

        # One word would go through a shell.
        exec(environment, [arguments.first, arguments.first], *arguments.drop(1))
      rescue SystemCallError => e
        warn "spanprof: #{e.message}"
        127
      end

      def usage(status, out)
        out.write(USAGE)
        status
      end

      # By its path, so that a bundle without this gem can be profiled; RUBYOPT
      # knows no quotes, so a path with a space goes by way of RUBYLIB.
      def environment
        library = File.expand_path("..", __dir__)
        return { "RUBYOPT" => "-r#{library}/spanprof/autostart #{ENV["RUBYOPT"]}".strip } unless library.match?(/\s/)

        { "RUBYLIB" => [library, ENV["RUBYLIB"]].compact.join(":"),
          "RUBYOPT" => "-rspanprof/autostart #{ENV["RUBYOPT"]}".strip }
      end
    end
  end
end
