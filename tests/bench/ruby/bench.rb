# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "tmpdir"

# Functions for all benchmarks: clocks, order statistics, child processes, and the
# output of rows, with a name, the measured figure, its limit, and the figures of the
# alternatives. A program fails if it could not measure, or if a count that must be
# exact is not, but not if another limit does not hold.
module Bench
  ROOT = File.expand_path("../../..", __dir__)

  class << self
    # Returns whether the run must be short. A short run only shows that the benchmark
    # works.
    def quick? = !["", "0"].include?(ENV.fetch("SPANPROF_BENCH_QUICK", "0"))

    # @return the first value, or the second in a short run
    def choose(full, short) = quick? ? short : full

    # @return [Float] CPU seconds of the calling thread
    def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

    # @return [Float] CPU seconds of all threads
    def process_cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

    # @return [Float] seconds of the monotonic clock
    def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # Prints a line for people, which `run` shows unchanged.
    def say(text)
      puts text
      $stdout.flush
    end

    # Prints a row, which `run` puts into its table. If `exact` is true, the program
    # fails if the limit does not hold.
    def bar(what, measured, figure, comparison, holds, exact: false)
      @broken = true if exact && !holds
      word = holds ? "yes" : "no"
      word = "#{word} (short)" if quick? && !exact
      say "bar: #{[what, measured, figure, comparison, word].join(" | ")}"
    end

    # Prints a row that could not be measured, and the reason.
    def skip(what, figure, reason) = say("bar: #{[what, "-", figure, reason, "-"].join(" | ")}")

    # Exits, with status 1 if an exact limit did not hold.
    def done = exit(@broken ? 1 : 0)

    def median(values) = quantile(values, 0.5)

    def quantile(values, share)
      sorted = values.sort
      sorted[[(share * sorted.size).floor, sorted.size - 1].min]
    end

    # @return [String] "12.3 (12.0..12.9)": the median, and the quartiles
    def spread(values, format = "%.2f")
      middle, low, high = [0.5, 0.25, 0.75].map { |share| format(format, quantile(values, share)) }
      "#{middle} (#{low}..#{high})"
    end

    # Runs the block in a new process.
    # @return the result of the block, which Marshal must support
    def apart(limit: 300)
      reader, writer = IO.pipe(binmode: true)
      pid = fork do
        reader.close
        writer.write(Marshal.dump(yield))
        writer.close
        exit!(0)
      end
      writer.close
      result = read_within(reader, pid, limit)
      _, status = Process.wait2(pid)
      raise "a process ended with #{status}" unless status.success?

      Marshal.load(result) # rubocop:disable Security/MarshalLoad
    ensure
      [reader, writer].each { |io| io&.close }
    end

    # Runs a program of this folder with the same Ruby.
    # @return [String] its output
    def program(name, *arguments, ruby: [], env: {}, limit: 300)
      command = ["timeout", "-k", "2", limit.to_s, RbConfig.ruby, *ruby, "#{__dir__}/#{name}", *arguments.map(&:to_s)]
      out = IO.popen(env, command, &:read)
      raise "#{name} #{arguments.join(" ")} ended with #{$?}" unless $?.success?

      out
    end

    # @yieldparam directory [String] a folder, which is deleted afterwards
    def directory(&block) = Dir.mktmpdir("spanprof-bench", &block)

    private

    def read_within(reader, pid, limit)
      end_s = clock + limit
      result = String.new(encoding: Encoding::BINARY)
      loop do
        unless IO.select([reader], nil, nil, [end_s - clock, 0].max)
          Process.kill(:KILL, pid)
          raise "a process did not end in #{limit} s"
        end
        result << reader.readpartial(65_536)
      end
    rescue EOFError
      result
    end
  end
end
