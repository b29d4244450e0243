# frozen_string_literal: true

# A program that works in spans. Spanprof::RackApp answers its requests to
# /debug/pprof, each in a thread of its own, as in a threaded web server.
require "opentelemetry/sdk"
require "socket"
require "spanprof"

ENV["OTEL_TRACES_EXPORTER"] = "none"
OpenTelemetry::SDK.configure
OpenTelemetry.tracer_provider.add_span_processor(Spanprof::SpanProcessor.new)

def burn_in_ruby(seconds)
  end_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
  while (left_s = end_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
    until_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + left_s
    nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < until_s
  end
end

def answer(socket)
  method, target = socket.gets.split
  nil until socket.gets.strip.empty?
  path, query = target.split("?", 2)
  status, headers, body = Spanprof::RackApp.call("REQUEST_METHOD" => method, "PATH_INFO" => path, "QUERY_STRING" => query.to_s)
  socket.write("HTTP/1.1 #{status} X\r\n", headers.map { |pair| "#{pair.join(": ")}\r\n" }.join, "connection: close\r\n\r\n", *body)
ensure
  socket.close
end

Thread.new do
  tracer = OpenTelemetry.tracer_provider.tracer("test")
  loop do
    tracer.in_span("GET /orders") { burn_in_ruby(0.01) }
    sleep 0.01
  end
end
server = TCPServer.new("127.0.0.1", 0)
$stdout.puts "127.0.0.1:#{server.addr[1]}"
$stdout.flush
loop { Thread.new(server.accept) { |socket| answer(socket) } }
