# frozen_string_literal: true

# Measures the CPU time of the profiler outside the application's thread, including
# uploads and the lookup of names (own_cost_of.rb). Processes of three kinds run in turn:
# without a session (the control), with spanprof, and with an alternative.
require_relative "peer_server"
require_relative "peers"
require_relative "sink"

ROUNDS = Bench.choose(2, 1)
KINDS = %w[none ours ours_each ours_plain].freeze

# @return [Float] CPU time of the profiler as percent of one core
def share(kind, found)
  found = JSON.parse(found)
  Bench.say format("%-10s %.4f s in %.2f s, at the end the application's thread %.4f s; %s", kind,
                   *found.values_at("own_s", "spent_s", "ended_s"), found.drop(3).to_h)
  100 * found["own_s"] / found["spent_s"]
end

found = Hash.new { |hash, kind| hash[kind] = [] }
Sink.run do |sink|
  PeerServer.run do |server|
    ROUNDS.times do
      KINDS.each { |kind| found[kind] << share(kind, Bench.program("own_cost_of.rb", kind, sink.address)) }
      Peers.names.each do |peer|
        Peers.program(peer, "own_cost_of.rb", peer, server.address)&.then { |out| found[peer] << share(peer, out) }
      end
    end
  end
end
none, ours, each, plain = KINDS.map { |kind| Bench.median(found[kind]) }
comparison = Peers.comparison(format("control %.2f %%", none), found.keys - KINDS) { |peer| format("%.2f", Bench.median(found[peer])) }
Bench.bar("CPU of our threads, 100 Hz, 27 frames, uploads, names", format("%.2f %% of a core", ours), "<= 0.3 %", comparison,
          ours <= 0.3)
Bench.bar("the same with another span in each sample", format("%.2f %%", each), "none",
          format("without native frames and spans %.2f %%", plain), true)
Bench.done
