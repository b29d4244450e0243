# frozen_string_literal: true

# ending_of.rb ADDRESS end|exit!|stop SECONDS: works with six threads in spans, prints
# the time at which it decides to exit, and exits.
require_relative "spans"

ADDRESS, HOW, SECONDS = ARGV
Spans.name("work")
Spans.start(nil, server: ADDRESS)
6.times { Thread.new { loop { Spans.in_span("work") { Spans.work("work", 0.01) } } } }
sleep Float(SECONDS)
# write_nonblock does not release the GVL. Acquiring it again would take 100 ms for each
# busy thread.
$stdout.write_nonblock("decided #{Bench.clock}\n")
case HOW
when "exit!" then exit!(0)
when "stop" then Spanprof.stop
end
