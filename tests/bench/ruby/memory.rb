# frozen_string_literal: true

# Measures the resident memory that profiling adds after 3 and 10 minutes. The program
# has four threads that work a thirteenth of the time, in 400 methods and in spans with
# 40 names. It is compared with the same program without a session, and with an
# alternative. All of them run at the same time.
require_relative "peer_server"
require_relative "peers"
require_relative "sink"

MARKS_S = Bench.choose([180, 600], [1, 2])

def run(kind, address, **options)
  Thread.new { JSON.parse(Bench.program("memory_of.rb", kind, address, *MARKS_S, limit: MARKS_S.last + 60, **options)) }
end

found = Sink.run do |sink|
  PeerServer.run do |server|
    runs = %w[ours none].to_h { |kind| [kind, run(kind, sink.address)] }
    peers = Peers.names.to_h { |peer| [peer, run(peer, server.address, env: Peers.env(peer))] }
    peers.transform_values! { |run| Peers.attempt("memory") { run.value } }
    runs.transform_values(&:value).merge(peers.compact)
  end
end
ours, none = found.values_at("ours", "none")
found.each { |kind, mib| Bench.say "#{kind}: resident MiB before and at #{MARKS_S.join(" and ")} s: #{mib}" }
over = ->(mib) { mib.zip(none).map { |with, without| with - without } }
added = over[ours]
comparison = Peers.comparison("", found.keys - %w[ours none]) { |peer| format("%.1f and %.1f MiB", *over[found[peer]].drop(1)) }
growth = added[2] - added[1]
Bench.bar("resident memory added, at #{MARKS_S.join(" and ")} s", format("%.1f and %.1f MiB", added[1], added[2]),
          "<= 14 MiB; <= 0.3 more", comparison, added.max <= 14 && growth <= 0.3)
Bench.done
