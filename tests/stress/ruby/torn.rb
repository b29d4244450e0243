# frozen_string_literal: true

# Code whose frames are often inconsistent, with some thousand walks a second. A
# single thread never waits.
require_relative "stress"
require_relative "code/torn"

ENV["SPANPROF_TEST_WALL_HZ"] ||= "20000r"
Stress.run(wrong: ->(sample) { Torn.wrong(sample) }) { Torn.run }
