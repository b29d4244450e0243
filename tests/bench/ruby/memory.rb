# frozen_string_literal: true

# Resident memory added after 3 and 10 minutes: four threads that work a
# thirteenth of the time, in 400 methods and 40 names of spans, beside the same
# without a session, at the same time.
require_relative "sink"
require "json"

MARKS_S = Bench.choose([180, 600], [1, 2])

def run(kind, address)
  command = [RbConfig.ruby, "#{__dir__}/memory_of.rb", kind, address, *MARKS_S.map(&:to_s)]
  Thread.new { JSON.parse(IO.popen(command, &:read)) }
end

ours, none = Sink.run { |sink| %w[ours none].map { |kind| run(kind, sink.address) }.map(&:value) }
Bench.say "resident MiB, before and at #{MARKS_S.join(" and ")} s: ours #{ours}, without #{none}"
added = ours.zip(none).map { |with, without| with - without }
growth = added[2] - added[1]
Bench.bar("resident memory added, at #{MARKS_S.join(" and ")} s", format("%.1f and %.1f MiB", added[1], added[2]),
          "<= 16 MiB, flat", "pyroscope 26, datadog 32 MiB", added.max <= 16 && growth <= 1)
Bench.done
