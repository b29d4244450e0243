# frozen_string_literal: true

# CPU time in samples over the true one, by the clocks of the threads that did
# the work, under what makes profilers miss it.
require_relative "spans"
require "bench_native"
require "digest"
require "zlib"

SECONDS = Bench.choose(6.0, 0.5)
Spans.name("ruby")
DATA = Random.new(1).bytes(200_000).unpack1("H*")
NUMBERS = Array.new(100_000) { |index| (index * 7919) % 100_003 }.freeze

# Calls into C, each kind in a method of its own.
module Spans::Burn
  def self.burn_zlib(until_s) = while_before(until_s) { Zlib.deflate(DATA) }
  def self.burn_digest(until_s) = while_before(until_s) { Digest::SHA256.hexdigest(DATA) }
  def self.burn_sort(until_s) = while_before(until_s) { NUMBERS.sort_by { |number| -number }.sort }
  def self.burn_held(_until_s) = BenchNative.hold(SECONDS)

  def self.while_before(until_s)
    yield while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < until_s
  end
end

def threads(count, work)
  Array.new(count) { Thread.new { Spans.work(work, SECONDS / count) } }.each(&:join)
end

# One core, half of which another process wants.
def pinned
  system("taskset", "-pc", "0", Process.pid.to_s, out: IO::NULL) or raise "taskset failed"
  beside = spawn("taskset", "-c", "0", "sh", "-c", "while :; do :; done")
  threads(1, "ruby")
ensure
  Process.kill(:KILL, beside)
  Process.wait(beside)
end

def ratio(what, beside, threads: 1, &block)
  verdict = Spans.measure(&block)
  measured = verdict.seen_s / verdict.true_s
  Bench.say format("%-34s true %6.3f s, in samples %6.3f s", what, verdict.true_s, verdict.seen_s)
  chance = Math.sqrt(threads / 6.0) * 0.01 / verdict.true_s
  Bench.bar("CPU in samples / true: #{what}", format("%.3f (chance %.3f)", measured, chance), "0.98 to 1.02", beside,
            measured.between?(0.98, 1.02))
end

ratio("one thread", "datadog 0.99, stackprof 1.0-1.2, pf2 1.00") { threads(1, "ruby") }
ratio("pinned beside a busy loop", "datadog 0.98, stackprof 0.2-0.85, pf2 0.8") { pinned }
ratio("8 threads that want the GVL", "datadog 0.97, stackprof 1.1, pf2 0.99", threads: 8) { threads(8, "ruby") }
ratio("zlib without the GVL, 2 threads", "datadog 0.99, stackprof 0.43, pf2 0.98", threads: 2) { threads(2, "zlib") }
ratio("SHA256 with the GVL, 2 threads", "datadog 0.97, stackprof 1.1, pf2 0.98", threads: 2) { threads(2, "digest") }
ratio("sorting with the GVL, 2 threads", "datadog 1.00, stackprof 0.25, pf2 0.98", threads: 2) { threads(2, "sort") }

def held
  verdict = Spans.measure { threads(1, "held") }
  Bench.bar("asleep with the GVL held, #{SECONDS} s", format("%.3f s, true %.3f s", verdict.seen_s, verdict.true_s),
            "0 to one tick", "pyroscope 4.0 s of 4, vernier 3.9 s, datadog 0.02 s", verdict.seen_s <= verdict.true_s + 0.01)
end

def native_thread
  seconds = SECONDS * 2
  verdict = Bench.apart do
    Bench.directory do |directory|
      Spans.start(directory)
      true_s = BenchNative.burn_apart(seconds)
      Spanprof.stop(timeout: 30)
      seen = ProfileReader.samples(directory).select { |sample| sample.in?("bench_native_burn") }
      [true_s, seen.sum(&:cpu_ns) / 1e9, seen.count { |sample| sample.in?(/native_burn_apart|<main>/) }]
    end
  end
  Bench.say format("native thread: true %.3f s, in samples %.3f s, %d of them on Ruby's stack", *verdict)
  measured = verdict[1] / verdict[0]
  Bench.bar("CPU in samples / true: a native thread without Ruby", format("%.3f", measured), "0.98 to 1.02",
            "pf2 0.97-1.0, all others 0", measured.between?(0.98, 1.02))
end

held
native_thread
Bench.done
