# frozen_string_literal: true

# Measures the CPU time in samples divided by the true CPU time, which the CPU clocks of
# the working threads show, in situations in which profilers often miss CPU time.
require_relative "peer_spans"
require_relative "total_cases"

SECONDS = Bench.choose(6.0, 0.5)
# At least 1.5 s, because an alternative may discard a profile that is shorter.
PEER_SECONDS = [SECONDS, 1.5].max

# @yieldparam true_s [Float]
# @yieldparam seen_s [Float]
# @return [String] the figure that the block makes from both, for each alternative
def comparison(name)
  Peers.comparison("", Peers.names) do |peer|
    Peers.attempt(peer) { PeerSpans.totals(peer, name, PEER_SECONDS) }&.then { |totals| yield(*totals) }
  end
end

def ratio(name, what, threads: 1)
  verdict = Spans.measure { TotalCases.public_send(name, SECONDS) }
  measured = verdict.seen_s / verdict.true_s
  Bench.say format("%-34s true %6.3f s, in samples %6.3f s", what, verdict.true_s, verdict.seen_s)
  chance = Math.sqrt(threads / 6.0) * 0.01 / verdict.true_s
  Bench.bar("CPU in samples / true: #{what}", format("%.3f (chance %.3f)", measured, chance), "0.98 to 1.02",
            comparison(name) { |true_s, seen_s| format("%.2f", seen_s / true_s) }, measured.between?(0.98, 1.02))
end

ratio(:one, "one thread")
ratio(:pinned, "pinned with a busy loop")
ratio(:eight, "8 threads that want the GVL", threads: 8)
ratio(:zlib, "zlib without the GVL, 2 threads", threads: 2)
ratio(:digest, "SHA256 with the GVL, 2 threads", threads: 2)
ratio(:sort, "sorting with the GVL, 2 threads", threads: 2)

def held
  verdict = Spans.measure { TotalCases.held(SECONDS) }
  Bench.bar("asleep with the GVL held, #{SECONDS} s", format("%.3f s, true %.3f s", verdict.seen_s, verdict.true_s),
            "0 to one tick", comparison(:held) { |_, seen_s| format("%.2f s of %.1f", seen_s, PEER_SECONDS) },
            verdict.seen_s <= verdict.true_s + 0.01)
end

def native_thread
  seconds = SECONDS * 2
  verdict = Bench.apart do
    Bench.directory do |directory|
      Spans.start(directory)
      true_s = BenchNative.burn_apart(seconds)
      Spanprof.stop(timeout: 30)
      seen = ProfileReader.samples(directory).select { |sample| sample.in?("bench_native_burn") }
      [true_s, seen.sum(&:cpu_ns) / 1e9, seen.count { |sample| sample.in?(/native_burn_apart|<main>/) }]
    end
  end
  Bench.say format("native thread: true %.3f s, in samples %.3f s, %d of them on Ruby's stack", *verdict)
  measured = verdict[1] / verdict[0]
  Bench.bar("CPU in samples / true: a native thread without Ruby", format("%.3f", measured), "0.98 to 1.02",
            "", measured.between?(0.98, 1.02))
end

held
native_thread
Bench.done
