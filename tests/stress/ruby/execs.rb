# frozen_string_literal: true

# A process with busy threads and timers executes programs: a remaining signal
# would end them.
require_relative "stress"

COMMANDS = [%w[true], ["sh", "-c", "sleep 0.01"], ["exit 0; true"]].freeze

Stress.run do |round|
  Stress.child do
    3.times { Thread.new { loop { Stress.burn(1) } } }
    Stress.burn(0.01)
    exec(*COMMANDS[round % COMMANDS.size])
  end
end
