# frozen_string_literal: true

require "child"

# OpenTelemetry's gems, old and new: each in a program of its own, in which only
# that version is activated.
class OtelVersionsTest < ChildTest
  API = %w[1.1.0 1.4.0 1.5.0 1.8.0 1.11.1].freeze
  SDK = %w[1.2.0 1.4.1 1.10.0 1.13.1].freeze

  # Spans by hand where there is only the API: what the SDK's spans have.
  STANDIN = <<~'RUBY'
    class Span < OpenTelemetry::Trace::Span
      attr_accessor :name, :attributes
      attr_reader :parent_span_id

      def initialize(name, parent, processor, context)
        super(span_context: OpenTelemetry::Trace::SpanContext.new(
          trace_id: parent.context.valid? ? parent.context.trace_id : OpenTelemetry::Trace.generate_trace_id,
          trace_flags: OpenTelemetry::Trace::TraceFlags::SAMPLED
        ))
        @name = name
        @parent_span_id = parent.context.valid? ? parent.context.span_id : OpenTelemetry::Trace::INVALID_SPAN_ID
        @attributes = {}
        @processor = processor
        processor.on_start(self, context)
      end

      def set_attribute(key, value) = @attributes[key] = value
      def finish(**) = @processor.on_finish(self)
    end

    class Tracer < OpenTelemetry::Trace::Tracer
      def initialize(processor) = (@processor = processor)

      def start_span(name, with_parent: nil, **)
        context = with_parent || OpenTelemetry::Context.current
        Span.new(name, OpenTelemetry::Trace.current_span(context), @processor, context)
      end
    end
    TRACER = Tracer.new(Spanprof::Otel::SpanProcessor.new("app.cpu", "http://localhost:4040"))
  RUBY

  WORK = <<~'RUBY'
    Spanprof.start
    values = Enumerator.new { |yielder| loop { burn(0.1) || yielder << 1 } }
    TRACER.in_span("outer") do |span|
      burn(0.1)
      fiber = Fiber.new { TRACER.in_span("fiber") { 2.times { burn(0.1) || Fiber.yield } } }
      2.times { fiber.resume && values.next || values.next }
      context = OpenTelemetry::Context.current
      Thread.new { OpenTelemetry::Context.with_current(context) { burn(0.1) } }.join
      OpenTelemetry::Context.clear
      burn(0.1)
      p span.attributes.keys
    end
    Spanprof.stop
    p OpenTelemetry::Context.instance_method(:value).source_location.first
  RUBY

  # @return [Hash{String => Float}] s of CPU by span name, to a tenth
  def cpu_by_span
    ProfileReader.samples(@profiles).group_by { |sample| sample.labels["span_name"] }
                 .transform_values { |samples| (samples.sum(&:cpu_ns) / 1e8).round / 10.0 }
  end

  def assert_followed(code, version)
    FileUtils.rm_rf(@profiles)
    result = child("begin\n  #{code}\nrescue LoadError => e\n  abort \"absent \#{e.message}\"\nend\n#{WORK}",
                   env: environment.merge("OTEL_TRACES_EXPORTER" => "none"))
    return false if result.err.start_with?("absent")

    assert_predicate result.status, :success?, "#{version}: #{result.err}"
    assert_includes result.out, "opentelemetry-api-#{version}" if code.include?("Tracer")
    assert_includes result.out, %(["pyroscope.profile.id", "pyroscope.profile.url"])
    times = cpu_by_span
    assert_in_delta 0.4, times["outer"], 0.11, "#{version}: #{times}"
    assert_in_delta 0.2, times["fiber"], 0.11, "#{version}: #{times}"
    assert_in_delta 0.1, times.fetch(nil), 0.3, "#{version}: #{times}"
    true
  end

  API.each do |version|
    define_method("test_api_#{version.tr(".", "_")}") do
      found = assert_followed(<<~RUBY, version)
        gem "opentelemetry-api", "= #{version}"
        require "opentelemetry-api"
        require "spanprof/otel"
        #{STANDIN}
      RUBY
      skip "opentelemetry-api #{version} is not installed" unless found
    end
  end

  SDK.each do |version|
    define_method("test_sdk_#{version.tr(".", "_")}") do
      found = assert_followed(<<~RUBY, version)
        gem "opentelemetry-sdk", "= #{version}"
        require "opentelemetry/sdk"
        require "spanprof/otel"
        OpenTelemetry::SDK.configure do |config|
          config.add_span_processor Spanprof::Otel::SpanProcessor.new("app.cpu", "http://localhost:4040")
        end
        TRACER = OpenTelemetry.tracer_provider.tracer("test")
      RUBY
      skip "opentelemetry-sdk #{version} is not installed" unless found
    end
  end

  def test_other_hooks_on_attach_and_detach_are_called
    [%w[Hook install], %w[install Hook]].each do |order|
      steps = { "Hook" => "OpenTelemetry::Context.singleton_class.prepend(Hook)", "install" => "Spanprof::Otel.install" }
      result = child(<<~RUBY, env: environment)
        require "opentelemetry-api"
        require "spanprof/otel"
        COUNTS = Hash.new(0)
        module Hook
          def attach(context) = super.tap { COUNTS[:attach] += 1 }
          def detach(token) = super.tap { COUNTS[:detach] += 1 }
        end
        #{steps.values_at(*order).join("\n")}
        context = OpenTelemetry::Context
        tokens = Array.new(3) { context.attach(context.empty) }
        p tokens, tokens.reverse.map { |token| context.detach(token) }, COUNTS.values
      RUBY
      assert_equal "[1, 2, 3]\n[true, true, true]\n[3, 3]\n", result.out, "#{order}: #{result.err}"
    end
  end

  def test_without_opentelemetry
    result = child(<<~'RUBY', env: environment)
      require "spanprof/otel"
      p Spanprof::Otel.install
      Spanprof.label(a: 1) { p 1 }
    RUBY
    assert_equal "false\n1\n", result.out
  end
end
