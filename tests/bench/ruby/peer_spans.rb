# frozen_string_literal: true

require "json"
require_relative "peers"
require_relative "peer_server"
require_relative "spans"

# Runs the cases of SpanCases and TotalCases with an alternative instead of spanprof.
module PeerSpans
  class << self
    # @return [Spans::Verdict]
    def measure(name, work, seconds, root_span_only: false, expected: nil)
      PeerServer.run do |server|
        found = run(name, work, seconds, root_span_only, server)
        expected ||= found["expected"]
        samples = server.uploads.flat_map { |upload| upload.profile.samples }
        samples.each { |sample| sample.labels = labels(sample.labels, found["ids"], expected) }
        Spans::Verdict.of(samples, found["account"], found["ids"], expected, found["process_s"])
      end
    end

    # @return [Array(Float, Float)] true CPU seconds, and CPU seconds in samples
    def totals(name, work, seconds)
      PeerServer.run do |server|
        found = run(name, work, seconds, false, server)
        return [found["account"].values.sum, found["seen_s"]] if found["seen_s"]

        samples = server.uploads.flat_map { |upload| upload.profile.samples }
        verdict = Spans::Verdict.of(samples, found["account"], found["ids"], {}, found["process_s"])
        [verdict.true_s, verdict.seen_s]
      end
    end

    private

    def run(name, work, seconds, root_span_only, server)
      command = ["timeout", "-k", "2", "300", RbConfig.ruby, "#{__dir__}/attribution_of.rb", name, server.address, work.to_s,
                 seconds.to_s, root_span_only.to_s]
      IO.popen(Peers.env(name), command, "r+") do |child|
        line = child.gets or raise "#{work} ended"
        JSON.parse(line).tap { |found| found["seen_s"] or server.wait_until(found["end_ns"]) }
      end
    end

    # Replaces the labels of an alternative's sample. Alternatives are compared by the
    # span's id only, so the name is the one that a span with this id must have.
    # Datadog's id is a number.
    def labels(labels, ids, expected)
      number = labels["span id"]
      id = number ? format("%016x", Integer(number) % (1 << 64)) : labels["profile_id"]
      name = ids.fetch(id, "unknown")
      id ? { "profile_id" => id, "span_name" => expected.fetch(name, name) } : {}
    end
  end
end
