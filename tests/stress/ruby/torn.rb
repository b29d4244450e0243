# frozen_string_literal: true

# Code whose frames are torn all the time, walked some thousand times a second:
# a single thread does not wait.
require_relative "stress"
require_relative "code/torn"

ENV["SPANPROF_TEST_WALL_HZ"] ||= "20000r"
Stress.run(wrong: ->(sample) { Torn.wrong(sample) }) { Torn.run }
