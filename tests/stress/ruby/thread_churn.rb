# frozen_string_literal: true

# Threads with fibers end in every possible way. The VM reuses their native threads.
require_relative "stress"

def burn(count) = (1..count).each_slice(3).map(&:sum).sort

def fibers
  ring = Array.new(3) { Fiber.new { 3.times { |turn| Fiber.yield(burn(10 * turn)) } } }
  3.times { ring.each(&:resume) }
  Enumerator.new { |out| 3.times { |one| out << burn(one * 5) } }.next
end

Stress.run do |round|
  threads = Array.new(6) do |number|
    Thread.new do
      Thread.current.report_on_exception = false
      burn(50)
      fibers
      raise "ended so" if number == 1

      Thread.exit if number == 2
      sleep if number == 3
      Thread.new { burn(30) }.join if number == 4
    end
  end
  threads[3].wakeup if threads[3].status == "sleep"
  threads[3].kill
  threads.each { |thread| thread.join rescue nil }
  GC.start if (round % 20).zero?
end
