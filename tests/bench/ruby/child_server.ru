# frozen_string_literal: true

require_relative "spans"

DIRECTORY = ENV.fetch("BENCH_DIRECTORY")
Spans.name("work")
Spans.start("#{DIRECTORY}/profiles")

run(lambda do |_env|
  Spans.in_span("work") { Spans.work("work", 0.02) }
  File.write("#{DIRECTORY}/true-#{Process.pid}", Spans.account["work"].to_s)
  [200, { "content-type" => "text/plain" }, ["done"]]
end)
