# frozen_string_literal: true

# A method that uses $~, and then lets a closure escape from a block in a block:
# while its environments move to the heap, the flags of one are overwritten.
# Walks that follow it without looking end on address NULL within seconds.
require_relative "stress"

# Code whose frames are torn all the time.
class Torn
  def escape(text)
    text =~ /b+/
    kept = nil
    [1].each do |first|
      [2].each do |second|
        kept = proc { first + second + $~.begin(0) }
      end
    end
    kept
  end

  def nested(depth, &block)
    "x#{depth}" =~ /x(\d)/
    return escape("abc").call unless depth.positive?

    [depth].map { |_| lambda { block.call($1) } }.first.call
    [depth].each { |left| [left].each { |now| nested(now - 1) { |digit| proc { [digit, left] }.call } } }
  end
end

Stress.run do
  torn = Torn.new
  200.times { torn.escape("abbbc").call }
  torn.nested(6) { |digit| digit }
end
