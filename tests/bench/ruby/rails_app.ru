# frozen_string_literal: true

require "action_controller/railtie"
require "opentelemetry/sdk"
require "opentelemetry/instrumentation/rails"
require "spanprof"
require "zlib"

DIRECTORY = ENV.fetch("BENCH_DIRECTORY")
ENV["OTEL_TRACES_EXPORTER"] = "none"

# Writes what the application knows about its spans to a file for the benchmark.
module Notes
  def self.write(*cells)
    File.open("#{DIRECTORY}/spans-#{Process.pid}", "a") { |file| file.write("#{cells.join("\t")}\n") }
  end

  # Records the final names of spans.
  class Processor
    def on_start(_span, _parent_context); end
    def on_finish(span) = Notes.write("finished", span.context.hex_span_id, span.name)
    def force_flush(timeout: nil) = 0
    def shutdown(timeout: nil) = 0
  end
end

# Each kind of work has its own method.
module Work
  DATA = Random.new(1).bytes(60_000).unpack1("H*")
  NUMBERS = Array.new(20_000) { |index| (index * 7919) % 20_011 }.freeze

  class << self
    def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    def burn_in_ruby = while_burning { 2000.times { |index| index.to_s } }
    def burn_in_c = while_burning { NUMBERS.sort }
    def burn_in_zlib = while_burning { Zlib.deflate(DATA) }
    def burn_in_thread = while_burning { 2000.times { |index| index.to_s } }

    def while_burning(seconds: 0.02)
      begin_s = cpu
      yield while cpu - begin_s < seconds
    end
  end
end

# The application.
class Rides < Rails::Application
  config.root = DIRECTORY
  config.eager_load = true
  config.consider_all_requests_local = true
  config.secret_key_base = "bench"
  config.logger = Logger.new(IO::NULL)
  config.hosts.clear
end

# One action for each kind of work.
class RidesController < ActionController::Base
  %i[in_ruby in_c in_zlib].each do |name|
    define_method(name) { note(name) { Work.public_send(:"burn_#{name}") } }
  end

  def in_thread
    context = OpenTelemetry::Context.current
    Thread.new { OpenTelemetry::Context.with_current(context) { note(:in_thread) { Work.burn_in_thread } } }.join
  end

  private

  def note(name)
    begin_s = Work.cpu
    yield
    Notes.write("worked", OpenTelemetry::Trace.current_span.context.hex_span_id, name, Work.cpu - begin_s)
  end

  def default_render(*) = head(:ok)
end

Spanprof.start(application_name: "bench", output_directory: "#{DIRECTORY}/profiles", log_level: :warn) or
  raise Spanprof.unavailable_reason
OpenTelemetry::SDK.configure do |config|
  config.use_all
  config.add_span_processor Spanprof::SpanProcessor.new(root_span_only: false)
  config.add_span_processor Notes::Processor.new
end
Rides.initialize!
Rides.routes.draw { %w[in_ruby in_c in_zlib in_thread].each { |name| get "/rides/#{name}/:id", to: "rides##{name}" } }
run Rides
