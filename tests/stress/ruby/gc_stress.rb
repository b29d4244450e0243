# frozen_string_literal: true

# For a while every allocation starts a garbage collection; in between, collections run normally.
require_relative "stress"

def allocate(count)
  Array.new(count) { |index| { index => "v#{index}", list: [index] * 3 } }
end

Stress.run do |round|
  allocate(2000)
  if (round % 20).zero?
    GC.stress = true
    allocate(3)
    eval("def made_#{round % 7} = [1, 2].map { |one| one.to_s }")
    GC.stress = false
  end
  send("made_#{round % 7}") if respond_to?("made_#{round % 7}", true)
  GC.start(full_mark: round.even?) if (round % 50).zero?
end
