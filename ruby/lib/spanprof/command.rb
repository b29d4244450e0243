# frozen_string_literal: true

require_relative "../spanprof"

module Spanprof
  # The command `spanprof`: the commands of the core, and `exec`.
  # @api private
  module Command
    USAGE = <<~TEXT
      usage: spanprof exec [--open] [--] PROGRAM [ARGUMENT...]

      Runs PROGRAM and profiles it and every Ruby process that it starts. The
      variables PYROSCOPE_* set the options. With --open, no profiles are kept; after
      the exit of PROGRAM a flame graph is written to a temporary file and shown in
      the browser.
    TEXT

    class << self
      # @param arguments [Array<String>] arguments of the command line
      # @return [Integer] exit status
      def run(arguments)
        return execute(arguments.drop(1)) if arguments.first == "exec"
        return Native.command(["spanprof", *arguments]) unless LOAD_ERROR

        Logging.last_resort(LOAD_ERROR)
        1
      end

      private

      def execute(arguments)
        return usage(0, $stdout) if %w[--help -h].include?(arguments.first)

        open = arguments.first == "--open"
        arguments = arguments.drop(1) if open
        arguments = arguments.drop(1) if arguments.first == "--"
        return usage(2, $stderr) if arguments.empty?
        return execute_and_open(arguments) if open

        # exec would use a shell if it got a single string.
        exec(environment, [arguments.first, arguments.first], *arguments.drop(1))
      rescue SystemCallError => e
        Logging.last_resort(e.message)
        127
      end

      def execute_and_open(arguments)
        return run([]) if LOAD_ERROR

        require "tmpdir"
        Dir.mktmpdir("spanprof-") do |directory|
          status = wait_for(arguments, { "PYROSCOPE_OUTPUT_DIRECTORY" => directory })
          if Dir.empty?(directory)
            Logging.last_resort("there is nothing to open: no CPU time was sampled")
          else
            Native.command(["spanprof", "report", "--open", "--title", "CPU time of #{File.basename(arguments.first)}", directory])
          end
          status
        end
      end

      # Run a program and wait for its exit, as a shell does. The terminal sends its signals
      # (Ctrl-C) to both processes; this process ignores them, so the program decides whether it
      # ends.
      # @return [Integer] its exit status
      def wait_for(arguments, variables)
        pid = Process.spawn(environment.merge(variables), [arguments.first, arguments.first], *arguments.drop(1))
        %w[INT QUIT].each { |name| trap(name) { nil } }
        %w[TERM HUP].each { |name| trap(name) { Process.kill(name, pid) } }
        _, status = Process.wait2(pid)
        status.exitstatus || (128 + status.termsig)
      end

      def usage(status, out)
        out.write(USAGE)
        status
      end

      # Returns the environment variables that load the profiler into the program. They contain the
      # path of the gem's files, so that programs whose bundle does not contain this gem can be
      # profiled. RUBYOPT has no way to quote a space, so a path with a space is set in RUBYLIB.
      def environment
        library = File.expand_path("..", __dir__)
        return { "RUBYOPT" => "-r#{library}/spanprof/autostart #{ENV["RUBYOPT"]}".strip } unless library.match?(/\s/)

        { "RUBYLIB" => [library, ENV["RUBYLIB"]].compact.join(":"),
          "RUBYOPT" => "-rspanprof/autostart #{ENV["RUBYOPT"]}".strip }
      end
    end
  end
end
