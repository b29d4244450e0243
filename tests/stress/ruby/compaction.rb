# frozen_string_literal: true

# Objects move (by GC.compact, and by collections with automatic compaction) while a thread burns
# CPU time without the GVL.
require_relative "stress"
require "zlib"

exit 0 unless GC.respond_to?(:compact)

def churn
  kept = Array.new(500) { |index| ["s#{index}", { index => index.to_s }] }
  klass = Class.new { def work = yield(1) }
  kept.each { |text, _| klass.new.work { |one| text.to_sym.to_proc && one } }
  kept.sort_by { |text, _| text.reverse }
end

data = Random.bytes(400_000)
Stress.run do |round|
  beside = Thread.new { 3.times { Zlib.deflate(data) } }
  GC.auto_compact = !GC.auto_compact if GC.respond_to?(:auto_compact=)
  20.times { churn }
  GC.compact if (round % 3).zero?
  GC.start if (round % 3) == 1
  beside.join
end
