# frozen_string_literal: true

require "fiddle"
require "span_case"

# A sample belongs to the active span. These tests use one fiber.
class SpanActivationTest < SpanCase
  SAMPLED = OpenTelemetry::Trace::TraceFlags::SAMPLED

  # A sampler that drops spans with the name "dropped". It records spans with the name "unsampled",
  # but does not sample them.
  class Sampler
    def description = "by name"

    def should_sample?(trace_id:, parent_context:, links:, name:, kind:, attributes:)
      decision = OpenTelemetry::SDK::Trace::Samplers::Decision
      wanted = { "dropped" => decision::DROP, "unsampled" => decision::RECORD_ONLY }
      OpenTelemetry::SDK::Trace::Samplers::Result.new(
        decision: wanted.fetch(name, decision::RECORD_AND_SAMPLE), tracestate: OpenTelemetry::Trace::Tracestate::DEFAULT
      )
    end
  end

  def sampling_provider = OpenTelemetry::SDK::Trace::TracerProvider.new(sampler: Sampler.new)

  def test_consecutive_spans
    profile do
      3.times do
        %i[first second third].each { |name| @tracer.in_span(name.to_s) { burn(name, 0.05) } }
        burn(:outside, 0.05)
      end
    end
    assert_spans
  end

  def nest
    @tracer.in_span("outer") do
      burn(:outer, 0.1)
      @tracer.in_span("middle") do
        burn(:middle, 0.1)
        @tracer.in_span("inner") { burn(:inner, 0.2) }
        burn(:middle, 0.1)
      end
      burn(:outer, 0.1)
    end
  end

  def test_samples_have_the_local_root_span
    id = nil
    profile { @tracer.in_span("root") { |span| (id = span.context.hex_span_id) && nest } }
    assert_spans(outer: :root, middle: :root, inner: :root)
    assert_equal [id], @samples.select { |sample| worker(sample) }.map { |sample| sample.labels["profile_id"] }.uniq
  end

  def test_samples_have_the_innermost_span_on_request
    profile(root_span_only: false) { nest }
    assert_spans
    inner = @samples.find { |sample| worker(sample) == :inner }
    assert_equal %w[ancestor:middle ancestor:outer], inner.labels.keys.grep(/ancestor/).sort
  end

  def test_unsampled_roots_are_not_labelled
    profile(provider: sampling_provider) do
      @tracer.in_span("unsampled") { burn(:unsampled, 0.1) }
      @tracer.in_span("dropped") { burn(:dropped, 0.1) }
      @tracer.in_span("sampled") { burn(:sampled, 0.1) }
    end
    assert_spans(unsampled: nil, dropped: nil)
  end

  def test_a_child_that_is_not_recorded_counts_for_the_span_around_it
    [true, false].each do |root_span_only|
      profile(provider: sampling_provider, root_span_only: root_span_only) do
        @tracer.in_span("around") do
          @tracer.in_span("dropped") do
            burn(:dropped, 0.1)
            @tracer.in_span("dropped") { burn(:dropped, 0.1) }
            burn(:dropped, 0.1)
          end
          @tracer.in_span("unsampled") { burn(:unsampled, 0.1) }
          wrapped = OpenTelemetry::Trace.non_recording_span(OpenTelemetry::Trace.current_span.context)
          OpenTelemetry::Trace.with_span(wrapped) { burn(:wrapped, 0.1) }
          burn(:around, 0.1)
        end
      end
      assert_spans(dropped: :around, unsampled: :around, wrapped: :around)
    end
  end

  def remote(trace_id = OpenTelemetry::Trace.generate_trace_id)
    context = OpenTelemetry::Trace::SpanContext.new(trace_id: trace_id, trace_flags: SAMPLED, remote: true)
    OpenTelemetry::Trace.context_with_span(OpenTelemetry::Trace.non_recording_span(context))
  end

  def test_a_span_with_a_remote_parent_is_a_root
    profile do
      OpenTelemetry::Context.with_current(remote) do
        burn(:outside, 0.1)
        @tracer.in_span("server") { @tracer.in_span("child") { burn(:server, 0.2) } }
        burn(:outside, 0.1)
      end
    end
    assert_spans
  end

  def test_an_unknown_span_of_another_trace_has_no_samples
    profile do
      @tracer.in_span("around") do
        burn(:around, 0.1)
        OpenTelemetry::Context.with_current(remote) { burn(:outside, 0.1) }
        burn(:around, 0.1)
      end
    end
    assert_spans
  end

  def test_a_span_that_was_not_activated_has_no_samples
    profile do
      span = @tracer.start_span("passive")
      burn(:outside, 0.1)
      @tracer.in_span("active") { burn(:active, 0.1) }
      span.finish
    end
    assert_spans
  end

  def test_detached_out_of_order
    profile do
      outer, inner = %w[outer inner].map { |name| @tracer.start_root_span(name) }
      first = OpenTelemetry::Context.attach(OpenTelemetry::Trace.context_with_span(outer))
      burn(:outer, 0.1)
      OpenTelemetry::Context.attach(OpenTelemetry::Trace.context_with_span(inner))
      burn(:inner, 0.1)
      quietly { OpenTelemetry::Context.detach(first) }
      burn(:outer, 0.1) # OpenTelemetry removes the top of the stack, whatever the token is
      quietly { OpenTelemetry::Context.detach(first + 7) }
      burn(:outside, 0.1)
      quietly { OpenTelemetry::Context.detach(0) }
      burn(:outside, 0.1)
    end
    assert_spans
  end

  # An object that is not a context. A program may attach any object.
  class Odd
    def initialize(&answer) = @answer = answer
    def value(_key) = @answer.call
  end

  ODD = [BasicObject.new, Object.new, 7, Odd.new { 7 }, Odd.new { raise IOError }, Odd.new { raise NotImplementedError }].freeze

  def test_any_attached_object_is_accepted
    profile do
      ODD.each do |odd|
        token = OpenTelemetry::Context.attach(odd)
        inner = OpenTelemetry::Context.attach(OpenTelemetry::Context.empty)
        assert OpenTelemetry::Context.detach(inner)
        assert OpenTelemetry::Context.detach(token)
      end
      @tracer.in_span("after") { burn(:after, 0.05) }
    end
    assert_spans
  end

  # The processor reads the span in the context of a remote parent.
  def test_any_parent_object_is_accepted
    processor = Spanprof::Otel::SpanProcessor.new("test.cpu", "http://localhost:4040")
    profile do
      @tracer.in_span("parent") do |span|
        span.instance_variable_set(:@parent_span_id, "12345678")
        span.remove_instance_variable(:@parent_span_is_remote) if span.instance_variable_defined?(:@parent_span_is_remote)
        ODD.each { |odd| processor.on_start(span, odd) }
      end
    end
  end

  # The binding caches data about a context by its address, and a new context may get the address of
  # a dead one.
  def test_a_context_at_the_address_of_a_dead_one
    reused = 0
    profile do
      live = @tracer.start_root_span("live")
      10.times do
        seen = Array.new(64) { @tracer.in_span("dead") { Fiddle.dlwrap(OpenTelemetry::Context.current) } }
        GC.start
        there = Array.new(50_000) { OpenTelemetry::Trace.context_with_span(live) }
        there.select! { |context| seen.include?(Fiddle.dlwrap(context)) }
        reused += there.size
        there.first(5).each { |context| OpenTelemetry::Context.with_current(context) { burn(:live, 0.01) } }
      end
    end
    assert_operator reused, :>, 0
    assert_spans
  end

  def test_hooks_are_removed_after_a_stop
    methods = -> { %i[attach detach clear].map { |name| OpenTelemetry::Context.method(name) } << Fiber.instance_method(:initialize) }
    before = methods.call
    2.times do
      profile { assert_empty before & methods.call }
      assert_equal before, methods.call
    end
  end

  def test_active_spans_are_known_after_a_stop_and_a_start
    made = Fiber.new { burn(:outside, 0.05) }
    profile do
      @tracer.in_span("lost") do
        thread_go, thread_done = Queue.new, Queue.new
        thread = Thread.new do
          @tracer.in_span("other") { thread_done << 1; thread_go.pop; burn(:outside, 0.05) }
          @tracer.in_span("known") { burn(:known, 0.05) }
        end
        thread_done.pop
        Spanprof.stop
        inside = OpenTelemetry::Context.attach(OpenTelemetry::Context.empty)
        while_stopped = Fiber.new { burn(:outside, 0.05) }
        assert Spanprof.start(application_name: "test", output_directory: @directory, log_level: :error)
        @tracer.in_span("again") do
          burn(:again, 0.05)
          made.resume
          while_stopped.resume
          Enumerator.new { |out| burn(:again, 0.05); out << 1 }.next
        end
        thread_go << 1
        thread.join
        OpenTelemetry::Context.detach(inside)
        burn(:lost, 0.05)
      end
    end
    assert_spans
  end

  def test_clear_deactivates_the_span
    profile do
      quietly do
        @tracer.in_span("before") do
          burn(:before, 0.1)
          OpenTelemetry::Context.clear
          burn(:outside, 0.1)
          @tracer.in_span("after") { burn(:after, 0.1) }
        end
      end
    end
    assert_spans
  end

  def test_an_attached_span_has_samples_until_it_ends
    profile do
      leaked = @tracer.start_root_span("leaked")
      OpenTelemetry::Context.attach(OpenTelemetry::Trace.context_with_span(leaked))
      burn(:leaked, 0.1)
      leaked.finish
      burn(:outside, 0.1)
      own = @tracer.start_root_span("own")
      OpenTelemetry::Trace.with_span(own) { burn(:own, 0.1) }
      burn(:outside, 0.1)
    end
    assert_spans
  end

  def test_unfinished_spans_lose_no_samples_and_no_memory
    profile do
      60.times { @tracer.start_root_span("leaked") }
      3.times { @tracer.in_span("work") { burn(:work, 0.1) } }
      40_000.times { @tracer.start_root_span("leaked") }
      GC.start
    end
    assert_spans
    # values on the stack may keep a few spans alive
    assert_operator Spanprof.stats[:spans_live], :<, 10
  end

  def test_the_final_name_is_used
    profile do
      @tracer.in_span("HTTP GET") do |span|
        burn(:route, 0.1)
        span.name = "route"
        burn(:route, 0.1)
      end
      span = @tracer.start_root_span("first name")
      OpenTelemetry::Trace.with_span(span) { burn(:last, 0.1) }
      Thread.new { (span.name = "last") && span.finish }.join
      burn(:outside, 0.1)
    end
    assert_spans
  end

  def test_a_new_name_is_used_before_the_span_ends
    profile do
      @tracer.in_span("old") do |span|
        burn(:renamed, 0.1)
        span.name = "renamed"
        assert Spanprof.flush
        burn(:renamed, 0.1)
      end
    end
    assert_spans
  end

  def test_an_exception_ends_its_spans
    profile do
      @tracer.in_span("outer") do
        begin
          @tracer.in_span("raises") { burn(:raises, 0.1) && raise(IOError) }
        rescue IOError
          burn(:outer, 0.1)
        end
        catch(:done) { @tracer.in_span("throws") { burn(:throws, 0.1) || throw(:done) } }
        burn(:outer, 0.1)
      end
      burn(:outside, 0.1)
    end
    assert_spans(raises: :outer, throws: :outer)
  end
end
