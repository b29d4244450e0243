# frozen_string_literal: true

# The difference between the shares of spans in samples and in CPU time: half the summed
# difference, by name. The part that chance explains for this number of samples is
# computed and printed, too.
require_relative "peer_spans"
require_relative "span_cases"

SECONDS = Bench.choose(13.0, 0.4)
# The kernel checks timers at its tick, 250 times a second on most systems. An expiry
# within a shorter burst is only seen if the tick is in the burst, too, which favours
# longer bursts.
UNEQUAL = 0.2

# @return [String] the same figure of the alternatives, by id
def comparison(name)
  Peers.comparison("", Peers.names(Peers::WITH_SPANS)) do |peer|
    Peers.attempt(peer) { PeerSpans.measure(peer, name, [SECONDS, 1.5].max) }&.then { |verdict| format("%.3f", verdict.distance) }
  end
end

def measure(name, what, limit = nil)
  verdict = Spans.measure { SpanCases.public_send(name, SECONDS) }
  noise = verdict.noise
  verdict.true_by_name.each do |span, seconds|
    Bench.say format("%-10s true %5.2f s, measured %5.2f s", span, seconds, verdict.by_label.fetch(span, 0.0))
  end
  Bench.bar("TV by name: #{what}", format("%.3f", verdict.distance),
            limit ? "<= #{limit}, the tick" : format("<= %.3f, chance", noise), comparison(name),
            verdict.distance <= (limit || noise))
end

measure(:sequence, "spans of 5 to 35 ms")
measure(:bursts, "bursts of 3 ms between sleeps")
measure(:short_spans, "spans of 2 to 5 ms")
measure(:unequal_bursts, "bursts of 3 and of 1 ms", UNEQUAL)
Bench.done
