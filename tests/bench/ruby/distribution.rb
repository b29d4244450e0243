# frozen_string_literal: true

# Measures the distance between the shares of spans in the samples and in the CPU time:
# half the sum of the differences by span name. The distance that chance alone causes
# with this number of samples is computed, too, and is the limit.
require_relative "peer_spans"
require_relative "span_cases"

SECONDS = Bench.choose(13.0, 0.4)
# The limit for bursts of different lengths. The kernel checks CPU timers at its tick,
# 250 times a second on most systems. A burst is sampled only if a tick is in it, which
# favours long bursts.
UNEQUAL = 0.2

# @return [String] the distance of the alternatives, by span id
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
