# frozen_string_literal: true

# Frames end without a return: by raise, ensure, retry, throw, break, Timeout, and because the stack
# overflows.
require_relative "stress"
require "timeout"

def thrown = catch(:done) { Stress.deep(10) { throw :done, 1 } }

def raised
  tries = 0
  begin
    Stress.deep(12) { Integer("none") }
  rescue ArgumentError
    retry if (tries += 1) < 3
  end
end

Stress.run do |round|
  thrown
  raised
  [1, 2].each { |one| Stress.deep(5) { next one } }
  [1].each { |_| break }
  begin
    Timeout.timeout(0.001) { loop { Stress.deep(3) { round.to_s } } }
  rescue Timeout::Error
    nil
  end
  begin
    Stress.overflow if (round % 100).zero?
  rescue SystemStackError
    nil
  end
end
