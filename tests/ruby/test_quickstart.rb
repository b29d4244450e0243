# frozen_string_literal: true

require "child"
require "json"
require "net/http"

# Runs the program of the README. A server must receive its profiles with the service name and the
# ids that the exporter of its spans receives.
class QuickstartTest < ChildTest
  CHECKOUT = File.expand_path("../..", __dir__)
  README = File.read("#{CHECKOUT}/README.md")
  PROGRAM = README[/^### Ruby$.*?^```ruby\n(.*?)^```/m, 1]

  # A replacement for the gem opentelemetry-exporter-otlp. The SDK requires the file by this name.
  EXPORTER = <<~'RUBY'
    require "json"
    module OpenTelemetry
      module Exporter
        module OTLP
          class Exporter
            def export(spans, timeout: nil)
              File.open(ENV.fetch("SPANS"), "a") do |file|
                spans.each do |span|
                  file.puts JSON.generate(
                    name: span.name, id: span.attributes&.fetch("pyroscope.profile.id", nil),
                    service: span.resource.attribute_enumerator.to_h["service.name"]
                  )
                end
              end
              0
            end

            def force_flush(timeout: nil) = 0
            def shutdown(timeout: nil) = 0
          end
        end
      end
    end
  RUBY

  WORK = <<~'RUBY'
    tracer = OpenTelemetry.tracer_provider.tracer("quickstart")
    8.times do |i|
      tracer.in_span("order #{i}") do
        burn 0.1
        tracer.in_span("inner") { burn 0.05 }
      end
    end
    OpenTelemetry.tracer_provider.shutdown
  RUBY

  def with_sink
    IO.popen(["python3", "#{CHECKOUT}/tests/sink/sink.py"]) do |sink|
      port = sink.gets[/port (\d+)/, 1]
      yield port
    ensure
      Process.kill(:KILL, sink.pid)
    end
  end

  # @return [Array(Hash, Array<Hash>)] what the server and the exporter have received
  def run_program(program, env = {})
    with_sink do |port|
      code = program.gsub("http://localhost:4040", "http://127.0.0.1:#{port}")
      refute_equal program, code
      result = child!(EXPORTER + code + WORK, env: { "SPANS" => "#{@directory}/spans" }.merge(env))
      assert_empty result.err
      return [JSON.parse(Net::HTTP.get("127.0.0.1", "/summary", port)),
              File.readlines("#{@directory}/spans").map { |line| JSON.parse(line) }]
    end
  end

  def environment
    super.merge("PYROSCOPE_APPLICATION_NAME" => nil, "PYROSCOPE_OUTPUT_DIRECTORY" => nil)
  end

  def assert_linked(name, stored, spans)
    assert_equal [name], stored["series"].map { |series| series["service_name"] }.uniq
    assert_equal [name], spans.map { |span| span["service"] }.uniq
    orders = spans.select { |span| span["name"].start_with?("order") }
    assert_equal 8, orders.size
    assert_empty orders.map { |span| span["id"] } - stored["by_label"]["profile_id"].keys
    assert_equal 8, orders.map { |span| span["id"] }.uniq.size
  end

  def test_the_first_flame_graph_of_a_span
    page = "#{@directory}/first.html"
    program = README[%r{^ruby -rspanprof -ropentelemetry/sdk -e '$\n(.*?)'$}m, 1].sub("first.html", page)
    table = child!(program, "-rspanprof", "-ropentelemetry/sdk", env: { "OTEL_TRACES_EXPORTER" => "none" }).out
    names = table[/span name\n(.*?)\n\n/m, 1].lines.map { |line| line[/[a-z]+$/] }
    assert_equal %w[count sort], names.compact.sort, table
    assert_includes File.read(page), "Array#sort"
  end

  def test_profiles_have_name_and_ids_of_the_spans
    assert_linked("rideshare", *run_program(PROGRAM))
  end

  def test_without_a_name_both_have_the_same_one
    without = PROGRAM.gsub(/^.*service_name.*\n/, "")
    refute_equal PROGRAM, without
    assert_linked("unknown_service", *run_program(without))
  end

  def test_the_environment_sets_both_names
    without = PROGRAM.gsub(/^.*service_name.*\n/, "")
    assert_linked("shop", *run_program(without, { "OTEL_SERVICE_NAME" => "shop" }))
  end

  def test_different_names_are_reported_once
    both = PROGRAM.sub("Spanprof.start(", 'Spanprof.start(application_name: "other", ')
    with_sink do |port|
      result = child!(EXPORTER + both.gsub("localhost:4040", "127.0.0.1:#{port}") + WORK,
                      env: { "SPANS" => "#{@directory}/spans" })
      assert_equal 1, result.err.lines.size, result.err
      assert_match(/^spanprof: spans have the service name "rideshare", but profiles have "other", so no trace/, result.err)
    end
  end

  def test_each_forked_child_has_the_name_of_its_own_spans
    stored = run_program(PROGRAM + <<~'RUBY').first
      fork do
        resource = OpenTelemetry::SDK::Resources::Resource.create("service.name" => "child", "service.namespace" => "eu")
        provider = OpenTelemetry::SDK::Trace::TracerProvider.new(resource: resource)
        provider.add_span_processor Spanprof::SpanProcessor.new
        provider.tracer("child").in_span("in the child") { burn 0.2 }
      end
      Process.wait
    RUBY
    child, parent = stored["series"].partition { |series| series["service_name"] == "child" }
    assert_equal ["eu"], child.map { |series| series["service_namespace"] }
    assert_equal ["rideshare"], parent.map { |series| series["service_name"] }.uniq
  end

  # If spans of another implementation have no Resource, the program continues.
  def test_spans_without_a_resource
    result = child!(<<~'RUBY', env: { "PYROSCOPE_OUTPUT_DIRECTORY" => @profiles })
      require "opentelemetry/sdk"
      require "spanprof"
      Spanprof.start
      OpenTelemetry::SDK::Trace::Span.undef_method(:resource)
      provider = OpenTelemetry::SDK::Trace::TracerProvider.new
      provider.add_span_processor Spanprof::SpanProcessor.new
      2.times { provider.tracer("t").in_span("work") { |span| burn 0.05; p span.attributes.key?("pyroscope.profile.id") } }
    RUBY
    assert_equal %w[true true], result.out.split
    assert_equal 1, result.err.lines.grep(/the service name of the spans cannot be read: NoMethodError/).size, result.err
    assert_match(%r{/unknown_service_ruby}, Dir["#{@profiles}/*.pb.gz"].first)
  end
end
