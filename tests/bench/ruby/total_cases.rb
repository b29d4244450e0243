# frozen_string_literal: true

require_relative "spans"
require "bench_native"
require "digest/sha2"
require "zlib"

# Cases of work with a known CPU time, in situations in which profilers often miss CPU
# time.
module TotalCases
  Spans.name("ruby")
  DATA = Random.new(1).bytes(200_000).unpack1("H*")
  NUMBERS = Array.new(100_000) { |index| (index * 7919) % 100_003 }.freeze

  # Burn methods that call C code, one for each kind.
  module Spans::Burn
    def self.burn_zlib(until_s) = while_before(until_s) { Zlib.deflate(DATA) }
    def self.burn_digest(until_s) = while_before(until_s) { Digest::SHA256.hexdigest(DATA) }
    def self.burn_sort(until_s) = while_before(until_s) { NUMBERS.sort_by { |number| -number }.sort }

    def self.burn_held(seconds) = BenchNative.hold(seconds)

    def self.while_before(until_s)
      yield while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < until_s
    end
  end

  class << self
    def one(seconds) = threads(1, "ruby", seconds)

    def eight(seconds) = threads(8, "ruby", seconds)

    def zlib(seconds) = threads(2, "zlib", seconds)

    def digest(seconds) = threads(2, "digest", seconds)

    def sort(seconds) = threads(2, "sort", seconds)

    # Work on one core, which another process uses half of the time.
    def pinned(seconds)
      system("taskset", "-pc", "0", Process.pid.to_s, out: IO::NULL) or raise "taskset failed"
      competitor = spawn("taskset", "-c", "0", "sh", "-c", "while :; do :; done")
      one(seconds)
    ensure
      Process.kill(:KILL, competitor)
      Process.wait(competitor)
    end

    # Sleeps without releasing the GVL.
    def held(seconds)
      Thread.new { Spans.booked("held") { Spans::Burn.burn_held(seconds) } }.join
    end

    private

    def threads(count, work, seconds)
      Array.new(count) { Thread.new { Spans.work(work, seconds / count) } }.each(&:join)
    end
  end
end
