# frozen_string_literal: true

# In two threads, C functions call Ruby blocks, so the order of native frames and Ruby frames in the
# stack changes all the time.
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
