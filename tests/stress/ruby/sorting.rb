# frozen_string_literal: true

# Ruby blocks that C functions call, in two threads: the order of native and
# Ruby frames changes all the time.
require_relative "stress"

def sorted(count)
  numbers = Array.new(count) { |index| (index * 7919) % 1009 }
  numbers.sort { |left, right| right <=> left }
  numbers.sort_by { |number| -number }.min_by(3) { |number| number.to_s }
  numbers.group_by(&:odd?).transform_values { |list| list.inject { |sum, one| sum ^ one } }
end

Stress.run do
  other = Thread.new { 5.times { sorted(400) } }
  5.times { sorted(400) }
  other.join
end
