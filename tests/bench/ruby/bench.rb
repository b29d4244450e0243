# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "tmpdir"

# What the benchmarks share: clocks, order statistics, processes apart, and the
# line that tells a bar, what was measured, and the alternative beside it. Time
# judges nothing: a program fails where it could not measure, or where a count
# that must be exact is not.
module Bench
  ROOT = File.expand_path("../../..", __dir__)

  class << self
    # Whether a run is to be short; its figures then only show that it works.
    def quick? = !["", "0"].include?(ENV.fetch("SPANPROF_BENCH_QUICK", "0"))

    # @return the first, or in a short run the second
    def choose(full, short) = quick? ? short : full

    # @return [Float] CPU seconds of the calling thread
    def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

    # @return [Float] CPU seconds of all threads
    def process_cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

    # @return [Float] seconds
    def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # A line for people.
    def say(text)
      puts text
      $stdout.flush
    end

    # A row of the table that `run` prints. With `exact` it must hold, however
    # short the run.
    def bar(what, measured, figure, beside, holds, exact: false)
      @broken = true if exact && !holds
      word = holds ? "yes" : "no"
      word = "#{word} (short)" if quick? && !exact
      say "bar: #{[what, measured, figure, beside, word].join(" | ")}"
    end

    # A row that could not be had here, and why.
    def skip(what, figure, reason) = say("bar: #{[what, "-", figure, reason, "-"].join(" | ")}")

    # Ends the program, with 1 where an exact count did not hold.
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

    # Runs the block in a process of its own, which nothing before has touched.
    # @return what the block returned; it must be fit for Marshal
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

    # Runs a program of this folder with this Ruby.
    # @return [String] what it printed
    def program(name, *arguments, ruby: [], env: {}, limit: 300)
      command = ["timeout", "-k", "2", limit.to_s, RbConfig.ruby, *ruby, "#{__dir__}/#{name}", *arguments.map(&:to_s)]
      out = IO.popen(env, command, &:read)
      raise "#{name} #{arguments.join(" ")} ended with #{$?}" unless $?.success?

      out
    end

    # @yieldparam directory [String] a folder that is gone afterwards
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
