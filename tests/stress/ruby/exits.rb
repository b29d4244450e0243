# frozen_string_literal: true

# A process exits while six of its threads continue to work as long as they can.
require_relative "stress"
require "zlib"

DATA_TO_PACK = Random.bytes(50_000)
BUSY = [-> { Stress.burn(1) }, -> { Zlib.deflate(DATA_TO_PACK) }, -> { Array.new(500) { |one| one.to_s }.sort }].freeze

Stress.run do |round|
  Stress.child do
    Thread.report_on_exception = false # Zlib raises an exception if the exit interrupts it
    6.times { |number| Thread.new { loop { BUSY[number % BUSY.size].call } } }
    Thread.new { GC.start while true } if (round % 5).zero?
    Stress.burn(0.03)
    exit if round.even?
  end
end
