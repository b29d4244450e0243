# frozen_string_literal: true

# Profiles a program from its start, with options from the environment:
#
#   RUBYOPT=-rspanprof/autostart PYROSCOPE_SERVER_ADDRESS=http://localhost:4040 ruby app.rb
#
# If the program uses OpenTelemetry's SDK, the samples get its spans, as if the program had added
# Spanprof::Otel::SpanProcessor.new.

require_relative "../spanprof"
require_relative "load_watch"

Spanprof::LoadWatch.early = true
Spanprof.start
Spanprof::LoadWatch.await("OpenTelemetry::SDK", :configure) { Spanprof::Otel::ProviderHook.install }
