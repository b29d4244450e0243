# frozen_string_literal: true

# A profiled process with busy threads executes programs. If a timer or signal of the profiler
# remained, it would end the new program.
require_relative "stress"

COMMANDS = [%w[true], ["sh", "-c", "sleep 0.01"], ["exit 0; true"]].freeze

Stress.run do |round|
  Stress.child do
    3.times { Thread.new { loop { Stress.burn(1) } } }
    Stress.burn(0.01)
    exec(*COMMANDS[round % COMMANDS.size])
  end
end
