# frozen_string_literal: true

require "spanprof"
require "pyroscope/otel"

if Spanprof.start(application_name: "shop", labels: { region: "eu" }, sample_rate_hz: 100, log_level: :warn)
  sum = Spanprof.label(controller: "carts", action: 3) { 1 + 2 }
  puts sum.succ
  Spanprof.flush(timeout: 1)
  puts Spanprof.stats.fetch(:samples_taken), Spanprof::VERSION.length
elsif (reason = Spanprof.unavailable_reason)
  puts reason.upcase
end
status, headers, parts = Spanprof::RackApp.call({ "PATH_INFO" => "/profile" })
puts status.succ, headers.fetch("content-type").upcase, parts.first&.bytesize
Spanprof.logger = nil
Spanprof.stop(timeout: 0.5)
puts Spanprof.running? || Spanprof.available?

Pyroscope.configure do |config|
  config.application_name = "rideshare-ruby"
  config.server_address = "http://localhost:4040"
  config.tags = { "hostname" => ENV.fetch("HOSTNAME", nil) }
  config[:sample_rate] = 100
end
puts Pyroscope.tag_wrapper({ "vehicle" => "bike" }) { "text" }.length
Pyroscope._add_tags(Pyroscope.thread_id, { "a" => "b" })
Pyroscope._remove_tags({ "a" => "b" })
Pyroscope.shutdown

processor = Pyroscope::Otel::SpanProcessor.new("rideshare-ruby.cpu", "http://localhost:4040").tap do |made|
  made.root_span_only = true
  made.add_span_name = true
end
processor.baseline_labels = { "region" => "eu" }
puts processor.app_name&.upcase, Spanprof::Otel::SpanProcessor.new(add_url: false).force_flush.succ
