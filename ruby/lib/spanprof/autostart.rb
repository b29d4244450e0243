# frozen_string_literal: true

# Profiles the program that is about to run, as the environment says:
#
#   RUBYOPT=-rspanprof/autostart PYROSCOPE_SERVER_ADDRESS=http://localhost:4040 ruby app.rb
#
# With OpenTelemetry's SDK in the program its spans are followed, as if it had
# added Spanprof::Otel::SpanProcessor.new itself.

require_relative "../spanprof"
require_relative "load_watch"

Spanprof::LoadWatch.early = true
Spanprof.start
Spanprof::LoadWatch.await("OpenTelemetry::SDK", :configure) { Spanprof::Otel::ProviderHook.install }
