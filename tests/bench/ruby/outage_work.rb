# frozen_string_literal: true

# outage_work.rb ADDRESS SECONDS INTERVAL_MS: works for 5 ms of every 25 ms, in spans,
# prints the used CPU seconds, and exits at the end of the script, without calling stop.
require_relative "spans"

ADDRESS, SECONDS, INTERVAL = ARGV
Spans.name("work")
Spans.start(nil, server: ADDRESS, interval_ms: Integer(INTERVAL))
end_s = Bench.clock + Float(SECONDS)
begin_s = Bench.cpu
while Bench.clock < end_s
  Spans.in_span("work") { Spans.work("work", 0.005) }
  sleep 0.02
end
puts Bench.cpu - begin_s
