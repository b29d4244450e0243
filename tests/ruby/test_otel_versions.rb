# frozen_string_literal: true

require "child"

# Old and new versions of OpenTelemetry's gems. A separate program tests each version and activates
# only that version.
class OtelVersionsTest < ChildTest
  API = %w[1.1.0 1.4.0 1.5.0 1.8.0 1.11.1].freeze
  SDK = %w[1.2.0 1.4.1 1.10.0 1.13.1].freeze

  # Replaces the SDK for programs that have only the API: spans with the interface of the SDK's
  # spans.
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
    TRACER = Tracer.new(Spanprof::Otel::SpanProcessor.new("app.cpu", "http://localhost:4040", add_url: true))
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

  # Versions that need Ruby 3.3.
  NEEDS_3_3 = %w[1.11.1 1.13.1].freeze

  def assert_followed(code, version)
    skip "#{version} is for Ruby 3.3 and newer" if NEEDS_3_3.include?(version) && RUBY_VERSION < "3.3"
    result = child!(code + WORK, env: environment.merge("OTEL_TRACES_EXPORTER" => "none"))
    assert_includes result.out, %(["pyroscope.profile.id", "pyroscope.profile.url"])
    by_span = samples.select { |sample| sample.in?(/\bburn\z/) }.group_by { |sample| sample.labels["span_name"] }
    assert_equal [nil, "fiber", "outer"], by_span.keys.sort_by(&:to_s)
    # The time in the enumerator belongs to the span of its caller.
    { "outer" => [0.4, 4], "fiber" => [0.2, 2], nil => [0.1, 1] }.each do |name, (true_s, stretches)|
      assert_burned(true_s, by_span[name], stretches: stretches, message: "#{version}: #{name.inspect}")
    end
    result
  end

  API.each do |version|
    define_method("test_api_#{version.tr(".", "_")}") do
      result = assert_followed(<<~RUBY, version)
        gem "opentelemetry-api", "= #{version}"
        require "opentelemetry-api"
        require "spanprof/otel"
        #{STANDIN}
      RUBY
      assert_includes result.out, "opentelemetry-api-#{version}"
    end
  end

  SDK.each do |version|
    define_method("test_sdk_#{version.tr(".", "_")}") do
      assert_followed(<<~RUBY, version)
        gem "opentelemetry-sdk", "= #{version}"
        require "opentelemetry/sdk"
        require "spanprof/otel"
        OpenTelemetry::SDK.configure do |config|
          config.add_span_processor Spanprof::Otel::SpanProcessor.new("app.cpu", "http://localhost:4040", add_url: true)
        end
        TRACER = OpenTelemetry.tracer_provider.tracer("test")
      RUBY
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

  def test_attach_and_detach_that_are_redefined_later_are_called
    result = child(<<~RUBY, env: environment)
      require "opentelemetry-api"
      require "spanprof/otel"
      Spanprof.start
      Spanprof::Otel.install
      context = OpenTelemetry::Context
      COUNTS = Hash.new(0)
      class << context
        alias original_attach attach
        def attach(context)
          COUNTS[:attach] += 1
          stack.push(context).size
        end
        define_method(:detach) do |token|
          COUNTS[:detach] += 1
          token == stack.size && stack.pop && true
        end
      end
      tokens = Array.new(3) { context.attach(context.empty) }
      p tokens, tokens.reverse.map { |token| context.detach(token) }, COUNTS.values
    RUBY
    assert_equal "[1, 2, 3]\n[true, true, true]\n[3, 3]\n", result.out, result.err
  end

  # A separate program tests each patch, before the first span and after it.
  def test_patches_of_set_attribute_are_called
    patches = ["OpenTelemetry::SDK::Trace::Span.prepend(Patch)",
               "OpenTelemetry::SDK::Trace::Span.class_eval { alias_method :old, :set_attribute; " \
               "def set_attribute(key, value) = (SEEN << key; old(key, value)) }"]
    patches.product([true, false]) do |patch, late|
      result = child(<<~RUBY, env: environment)
        require "opentelemetry/sdk"
        require "spanprof/otel"
        SEEN = []
        module Patch
          def set_attribute(key, value) = (SEEN << key; super)
        end
        Spanprof.start
        provider = OpenTelemetry::SDK::Trace::TracerProvider.new
        provider.add_span_processor(Spanprof::Otel::SpanProcessor.new("app.cpu", "http://localhost:4040", add_url: true))
        tracer = provider.tracer("test")
        tracer.in_span("before", attributes: { "a" => 1 }) {} if #{late}
        p SEEN
        #{patch}
        tracer.in_span("after", attributes: { "a" => 1 }) {}
        p SEEN
      RUBY
      assert_equal %([]\n["pyroscope.profile.id", "pyroscope.profile.url"]\n), result.out, "#{patch} #{result.err}"
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
