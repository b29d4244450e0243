# frozen_string_literal: true

# Measures how long a program with six threads in spans takes to exit, if the server is
# down, or if it accepts the upload and never answers.
require_relative "sink"
require "socket"

RUNS = Bench.choose(5, 1)
WORK_S = Bench.choose(3.0, 0.2)

# Returns the seconds from the program's decision to exit until its exit, and its
# status.
def ending(address, how)
  out = IO.popen([RbConfig.ruby, "#{__dir__}/ending_of.rb", address, how, WORK_S.to_s], &:read)
  [Bench.clock - Float(out[/decided (\S+)/, 1]), $?.exitstatus]
end

def row(what, address)
  Bench.choose(%w[end exit! stop], %w[end exit!]).each do |how|
    found = Array.new(RUNS) { ending(address, how) }
    seconds = found.map(&:first)
    Bench.say format("%-24s %-6s %s s, status %s", what, how, Bench.spread(seconds), found.map(&:last).uniq)
    worst = seconds.max
    # `stop` has no limit here: it may take 2 s by its contract, and the program exits
    # after that.
    limit = how == "stop" ? "none" : "<= 2 s"
    Bench.bar("#{how}, 6 busy threads, server #{what}", format("%.2f s, worst of %d", worst, RUNS), limit, "",
              worst <= 2 || how == "stop")
  end
end

row("gone", "http://127.0.0.1:#{Sink.free_port}")
Sink.run do |sink|
  sink.freeze!
  row("frozen", sink.address)
end
Bench.done
