# frozen_string_literal: true

# Runs code whose VM frames are often inconsistent (code/torn.rb), and walks its stack some thousand
# times a second. Wall-clock timers can start the walks here, because the only thread of this
# program never waits.
require_relative "stress"
require_relative "code/torn"

ENV["SPANPROF_TEST_WALL_HZ"] ||= "20000r"
Stress.run(wrong: ->(sample) { Torn.wrong(sample) }) { Torn.run }
