# frozen_string_literal: true

# What the stress programs of this folder share: each is run by itself, with
# the gem on its load path, and must end with status 0.
#
#   SPANPROF_STRESS_SECONDS=20 SPANPROF_TEST_WALL_HZ=1000r ruby torn.rb
require "spanprof"
require "tmpdir"

# Profiles a block until its time is over, and then judges what came of it.
module Stress
  SECONDS = Float(ENV.fetch("SPANPROF_STRESS_SECONDS", "5"))

  # Timers of wall time, so that the kernel's tick does not limit the rate.
  ENV["SPANPROF_TEST_WALL_HZ"] ||= "1000r"

  # An end of a child that takes longer is a hang.
  END_S = 20

  class << self
    # @return [String] where the profiles are written
    attr_reader :directory

    # Calls the block over and over until the time is over.
    # @yieldparam round [Integer] 0, 1, 2, …
    def run
      Dir.mktmpdir do |directory|
        @directory = directory
        Spanprof.start(application_name: name, output_directory: directory, upload_interval_ms: 1000) or
          abort "not profiled: #{Spanprof.unavailable_reason}"
        @until = now + SECONDS
        round = 0
        while more?
          yield round
          round += 1
          @warm ||= resident if now > @until - (SECONDS / 2)
        end
        Spanprof.stop(timeout: 10)
        judge(Spanprof.stats, round)
      end
    end

    # @return [Boolean] whether there is time left
    def more? = now < @until

    # Burns CPU time of this thread.
    def burn(seconds)
      clock = Process::CLOCK_THREAD_CPUTIME_ID
      limit = Process.clock_gettime(clock) + seconds
      nil while Process.clock_gettime(clock) < limit
    end

    # Runs the block in a fork, which must end well, and soon.
    # @return [Integer] its pid
    def child(&block)
      pid = fork(&block)
      began = now
      until (_, status = Process.wait2(pid, Process::WNOHANG))
        abort "a child hangs: #{File.read("/proc/#{pid}/status")}" if now - began > END_S
        sleep 0.002
      end
      abort "a child ended by #{status.inspect}" unless status.success?
      pid
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # @return [Integer] memory of this process, MiB
    def resident = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024

    def name = File.basename($PROGRAM_NAME, ".rb")

    def judge(stats, rounds)
      puts "#{name}: #{rounds} rounds, #{stats[:samples_taken]} samples, #{stats[:stacks_walk_cut]} walks cut, " \
           "#{stats[:frames_unnamed]} frames unnamed, #{@warm} MiB half-way, #{resident} MiB, #{Spanprof.const_get(:Native).walker}"
      abort "too few samples" if stats[:samples_taken] < SECONDS * 20
      unaccounted = stats[:samples_taken] - stats[:samples_exported] -
                    stats.sum { |key, count| key.start_with?("samples_dropped") ? count : 0 }
      abort "#{unaccounted} samples are unaccounted for" unless unaccounted.zero?
    end
  end
end
