# frozen_string_literal: true

require "span_case"

require "objspace"

# Each fiber has its own span.
class FibersTest < SpanCase
  # Resume fibers in turn until all have ended.
  def take_turns(fibers)
    fibers = fibers.select { |fiber| fiber.resume && fiber.alive? } until fibers.empty?
  end

  def spanning(name, turns)
    Fiber.new do
      @tracer.in_span(name) do
        turns.times do
          burn(name.to_sym, 0.002)
          Fiber.yield true
        end
      end
      burn(:outside, 0.002)
      true
    end
  end

  def test_forty_alternating_fibers
    profile { take_turns(Array.new(40) { |i| spanning("fiber#{i % 8}", 10 + i % 8) }) }
    assert_spans
  end

  def test_a_fiber_does_not_have_the_span_of_its_resumer
    profile do
      fiber = Fiber.new do
        loop do
          burn(:outside, 0.02)
          Fiber.yield
        end
      end
      @tracer.in_span("resumes") do
        5.times do
          fiber.resume
          burn(:resumes, 0.02)
        end
      end
    end
    assert_spans
  end

  def test_transfer
    profile do
      main = Fiber.current
      names = %i[one two three]
      fibers = names.map do |name|
        Fiber.new do
          @tracer.in_span(name.to_s) do
            loop do
              burn(name, 0.01)
              main.transfer
            end
          end
        end
      end
      @tracer.in_span("main") do
        8.times do
          fibers.each do |fiber|
            fiber.transfer
            burn(:main, 0.01)
          end
        end
      end
    end
    assert_spans
  end

  def test_fiber_locals_copied_by_frameworks_have_no_spans
    profile do
      @tracer.in_span("parent") do
        burn(:parent, 0.05)
        locals = Thread.current.keys.to_h { |key| [key, Thread.current[key]] }
        child = lambda do
          locals.each { |key, value| Thread.current[key] = value unless key.to_s.include?("opentelemetry") }
          burn(:outside, 0.05)
          @tracer.start_root_span("own").then { |span| OpenTelemetry::Trace.with_span(span) { burn(:own, 0.05) } }
          Fiber.yield
          burn(:outside, 0.05)
        end
        fiber = Fiber.new(&child)
        fiber.resume
        burn(:parent, 0.05)
        fiber.resume
        Thread.new { Fiber.new(&child).resume }.join
        burn(:parent, 0.05)
      end
    end
    assert_spans
  end

  def test_the_gem_sets_no_fiber_locals
    Spanprof.label(tier: 1) do
      @tracer = OpenTelemetry::SDK::Trace::TracerProvider.new.tracer("test")
      @tracer.in_span("parent") do
        assert_empty Thread.current.keys.grep(/spanprof/)
        Thread.current.keys.each { |key| refute_nil Thread.current[key].inspect }
      end
    end
  end

  def test_objects_behind_fibers_and_spans_are_found_but_not_copied
    profile do
      @tracer.in_span("parent") do |span|
        native = Spanprof.const_get(:Native)
        # A fiber's stack may still contain values of earlier calls, so more than one object may be
        # found.
        { Fiber.current => native::Scope, span => native::Span }.each do |object, holder|
          held = ObjectSpace.reachable_objects_from(object).grep(holder)
          refute_empty held, object.class.name
          held.each do |other|
            refute_nil other
            assert_raises(TypeError) { other.dup }
            assert_raises(TypeError) { Marshal.dump(other) }
            assert_raises(TypeError) { other.class.allocate }
          end
        end
      end
    end
  end

  def test_dropped_fibers_free_their_memory
    profile do
      drop = lambda do |count|
        count.times { spanning("dropped", 2).tap(&:resume) }
        GC.start
      end
      drop.call(100)
      before = Spanprof.stats[:spans_live]
      drop.call(1000)
      # values on a fiber's stack may keep a few spans alive
      assert_operator Spanprof.stats[:spans_live] - before, :<, 10
    end
    assert_spans
  end

  def test_fibers_end_during_a_span
    profile do
      5.times do
        fiber = Fiber.new { @tracer.in_span("raises") { burn(:raises, 0.02) && raise(IOError) } }
        assert_raises(IOError) { fiber.resume }
        burn(:outside, 0.02)
      end
    end
    assert_spans
  end

  def test_compaction_moves_fibers
    skip "no compaction here" unless GC.respond_to?(:compact)
    profile do
      fibers = Array.new(20) { |i| spanning("moved#{i % 4}", 6) }
      until fibers.empty?
        fibers = fibers.select { |fiber| fiber.resume && fiber.alive? }
        GC.compact
      end
    end
    assert_spans
  end

  def test_arguments_of_fibers_are_untouched
    Spanprof::Otel.install
    assert Fiber.new(blocking: true) { Fiber.current.blocking? }.resume
    refute Fiber.new { Fiber.current.blocking? }.resume
    assert_equal [1, { two: 2 }], Fiber.new { |one, **two| [one, two] }.resume(1, two: 2)
    assert_raises(ArgumentError) { Fiber.new }
    subclass = Class.new(Fiber) do
      def initialize(name, &block)
        super(&block)
        @name = name
      end
      attr_reader :name
    end
    assert_equal "named", subclass.new("named") { 1 }.name
  end

  def test_spans_are_inherited_on_request
    Spanprof::Otel.inherit_spans = true
    profile do
      @tracer.in_span("maker") do
        Spanprof.label(tenant: "acme") do
          fiber = Fiber.new do
            burn(:maker, 0.05)
            @tracer.start_root_span("own").then { |span| OpenTelemetry::Trace.with_span(span) { burn(:own, 0.05) } }
            Fiber.new { burn(:maker, 0.05) }.resume
            Fiber.yield
            burn(:maker, 0.05)
          end
          fiber.resume
          thread = Thread.new { burn(:maker, 0.05) && Thread.new { burn(:maker, 0.05) }.join }
          thread.join
          burn(:maker, 0.05)
          @tracer.start_root_span("other").then { |span| OpenTelemetry::Trace.with_span(span) { fiber.resume } }
        end
      end
      Thread.new { burn(:outside, 0.05) }.join
      Fiber.new { burn(:outside, 0.05) }.resume
    end
    assert_spans
    assert_equal ["acme"], @samples.select { |sample| worker(sample) == :maker }.map { |sample| sample.labels["tenant"] }.uniq
  ensure
    Spanprof::Otel.inherit_spans = false
  end

  def test_spans_are_not_inherited_by_default
    profile do
      @tracer.in_span("maker") do
        Fiber.new { burn(:outside, 0.05) }.resume
        Thread.new { burn(:outside, 0.05) }.join
      end
    end
    assert_spans
  end
end
