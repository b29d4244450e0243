# frozen_string_literal: true

# Everything together: inconsistent frames, freed code, fibers, exceptions, compacting collections,
# ending threads and commands. The stack of each running thread is walked some thousand times a
# second. Once a second the program forks, and the stacks of the child are walked as well.
require_relative "stress"
require_relative "code/torn"
require_relative "code/marked"
require "timeout"
require "zlib"

# The work that the threads repeat. Each call is short.
module Storm
  DATA = Random.bytes(100_000)
  ENDS = [-> { exit }, -> { exit!(0) }, -> { exec("true") }, -> {}].freeze
  CHILD_SECONDS = 0.2

  class << self
    def codes(round) = 10.times { |one| Marked.call((round * 10) + one) }

    def fibers(round)
      ring = Array.new(3) { Fiber.new { 3.times { |turn| Fiber.yield(sort(10 * turn)) } } }
      3.times { ring.each(&:resume) }
      Enumerator.new { |out| 3.times { |one| out << sort(one * 5) } }.next
      Spanprof.label(round: (round % 5).to_s) { Fiber.new { sort(30) }.resume }
    end

    def ends(round)
      catch(:done) { Stress.deep(10) { throw :done } }
      Stress.deep(12) { raise "ended so" } if round.odd?
      Stress.overflow if (round % 100).zero?
      Timeout.timeout(0.001) { loop { Stress.deep(3) { round.to_s } } }
    rescue RuntimeError, SystemStackError
      nil
    end

    def collections(round)
      Array.new(2000) { |index| { index => "v#{index}", list: [index] * 3 } }
      GC.start(full_mark: round.even?) if (round % 20).zero?
      GC.compact if (round % 100).zero? && GC.respond_to?(:compact)
      Zlib.deflate(DATA)
    end

    def threads(_round)
      Array.new(4) { |number| Thread.new { number == 1 ? Thread.exit : sort(50) } }.each(&:join)
    end

    def fork_once(count)
      Stress.child do
        Stress.walked do
          round = 0
          limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + CHILD_SECONDS
          all(round += 1) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
        end
        ENDS[count % ENDS.size].call
      end
      system("true", exception: true)
    end

    def all(round)
      Torn.run
      [:codes, :fibers, :ends, :collections, :threads].each { |name| public_send(name, round) }
    end

    private

    def sort(count) = Array.new(count) { |one| (one * 7919) % 1009 }.sort_by { |one| -one }.each_slice(3).map(&:sum)
  end
end

busy = %i[codes fibers ends collections threads].map { |name| ->(round) { Storm.public_send(name, round) } } << ->(_) { Torn.run }
threads = []
Stress.run(walks: true, wrong: ->(sample) { Torn.wrong(sample) || Marked.wrong(sample) }) do |round|
  threads = busy.map { |work| Thread.new { count = 0; work.call(count += 1) while Stress.more? } } if threads.empty?
  sleep 1
  Storm.fork_once(round)
end
