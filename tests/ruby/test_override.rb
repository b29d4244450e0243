# frozen_string_literal: true

require "child"

# Methods that both spanprof replaces and another gem wraps.
class OverrideTest < ChildTest
  # The methods that spanprof replaces: owner, name, and code that calls the method once. Methods
  # that this Ruby does not have are skipped.
  METHODS = <<~'RUBY'
    require "opentelemetry/sdk"
    require "spanprof/otel"
    CONTEXT = OpenTelemetry::Context
    METHODS = [
      [Fiber, :initialize, -> { Fiber.new(blocking: true) { |one| one }.resume(1) }],
      [Thread, :initialize, -> { Thread.new(1) { |one| one }.value }],
      [GC.singleton_class, :compact, -> { GC.compact }],
      [GC.singleton_class, :auto_compact=, -> { GC.auto_compact = false }],
      [GC.singleton_class, :verify_compaction_references, -> { GC.verify_compaction_references(toward: :empty) }],
      [Process.singleton_class, :warmup, -> { Process.warmup }],
      [defined?(RubyVM::YJIT) && RubyVM::YJIT.singleton_class, :enable, -> { RubyVM::YJIT.enable }],
      [CONTEXT.singleton_class, :attach, -> { CONTEXT.attach(CONTEXT.empty) }],
      [CONTEXT.singleton_class, :detach, -> { CONTEXT.detach(1) }],
      [CONTEXT.singleton_class, :clear, -> { CONTEXT.clear }],
      [OpenTelemetry::SDK::Trace::Span, :name=, -> { SPAN.name = "renamed" }],
      [OpenTelemetry.singleton_class, :tracer_provider=, -> { OpenTelemetry.tracer_provider = PROVIDER }],
      [Spanprof::Otel::SpanProcessor, :on_start, -> { PROCESSOR.on_start(SPAN, CONTEXT.empty) }],
      [Spanprof::Otel::SpanProcessor, :on_finish, -> { PROCESSOR.on_finish(SPAN) }]
    ].select { |owner, name, _| owner && (owner.method_defined?(name) || owner.private_method_defined?(name)) }

    # The wrappers of another gem. They count their calls on the main thread.
    CALLS = Hash.new(0)
    def called(owner, name)
      CALLS[[owner, name]] += 1 if Thread.current == Thread.main
    end

    def wrap_by_alias(owner, name, number)
      owner.class_eval do
        alias_method :"#{name.to_s.delete("=")}_without_#{number}", name
        define_method(name) do |*words, **more, &block|
          called(owner, name)
          __send__(:"#{name.to_s.delete("=")}_without_#{number}", *words, **more, &block)
        end
      end
    end

    def wrap_by_prepend(owner, name, _number)
      owner.prepend(Module.new do
        define_method(name) do |*words, **more, &block|
          called(owner, name)
          super(*words, **more, &block)
        end
      end)
    end

    def wrap(kind)
      @wraps = @wraps.to_i + 1
      METHODS.each { |owner, name, _| __send__(:"wrap_by_#{kind}", owner, name, @wraps) }
    end

    def start
      Spanprof::Otel.inherit_spans = true
      Spanprof.start(log_level: :off) || abort(Spanprof.unavailable_reason)
      Object.const_set(:PROVIDER, OpenTelemetry::SDK::Trace::TracerProvider.new)
      Object.const_set(:PROCESSOR, Spanprof::Otel::SpanProcessor.new)
      PROVIDER.add_span_processor(PROCESSOR)
      Spanprof::Otel::ProviderHook.install
      Object.const_set(:SPAN, PROVIDER.tracer("test").start_span("first"))
    end

    # Calls each method once and checks that each of its wrappers has run once.
    def calls
      METHODS.each do |owner, name, call|
        CALLS.clear
        call.call
        warn "#{owner}##{name}: #{CALLS[[owner, name]]} calls" if CALLS[[owner, name]] != @wraps.to_i
      rescue SystemStackError, StandardError => e
        warn "#{owner}##{name}: #{e.class} #{e.message}"
      end
      CONTEXT.clear
    end

    # Checks that the wrapped methods still do the profiler's work: new fibers and threads inherit
    # the labels of their creator, and samples get the span and its new name.
    def work
      native = Spanprof.const_get(:Native)
      Spanprof.label(a: 1) do
        warn "no fiber inherits" if Fiber.new { native.labels }.resume.zero?
        warn "no thread inherits" if Thread.new { native.labels }.value.zero?
      end
      PROVIDER.tracer("test").in_span("named") do |span|
        span.name = "renamed"
        burn 0.1
      end
    end
  RUBY

  # Orders in which a program wraps all methods and starts the profiler.
  ORDERS = {
    "alias before" => "wrap(:alias); start",
    "alias after" => "start; wrap(:alias)",
    "two aliases" => "start; wrap(:alias); wrap(:alias)",
    "alias before and after" => "wrap(:alias); start; wrap(:alias)",
    "prepend before" => "wrap(:prepend); start",
    "prepend after" => "start; wrap(:prepend)",
    "alias, then prepend" => "start; wrap(:alias); wrap(:prepend)",
    "alias while stopped" => "start; Spanprof.stop; wrap(:alias); Spanprof.start(log_level: :off)"
  }.freeze

  ORDERS.each do |order, code|
    define_method("test_#{order.tr(", ", "_")}") do
      result = child!(<<~RUBY)
        #{METHODS}
        #{code}
        calls
        work
        Spanprof.stop
        calls
        Spanprof.start(log_level: :off)
        calls
        work
        Spanprof.stop
      RUBY
      assert_empty result.err
      names = burnt.map { |sample| sample.labels["span_name"] }.uniq
      assert_equal ["renamed"], names
    end
  end
end
