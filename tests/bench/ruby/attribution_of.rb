# frozen_string_literal: true

# attribution_of.rb NAME ADDRESS CASE SECONDS ROOT_SPAN_ONLY: runs a case of SpanCases
# or TotalCases with the alternative NAME instead of spanprof. Prints the true CPU times
# when the work is done, uploads the samples, and waits until its standard input ends.
require_relative "peers"
require_relative "span_cases"
require_relative "total_cases"

name, address, work, seconds, root_span_only = ARGV
Spans.follow(Peers.processor(name, root_span_only: root_span_only == "true"))
Peers.start(name, address: address)
began_s = Bench.process_cpu
expected = [SpanCases, TotalCases].find { |cases| cases.respond_to?(work) }.public_send(work, Float(seconds))
found = { process_s: Bench.process_cpu - began_s, end_ns: Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond),
          account: Spans.account, ids: Spans.ids, expected: expected.is_a?(Hash) ? expected : {} }
found[:seen_s] = Peers.stop(name)
puts JSON.generate(found)
$stdout.flush
$stdin.read
exit!(0)
