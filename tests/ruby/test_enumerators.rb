# frozen_string_literal: true

require "span_case"

# The work in an enumerator's fiber belongs to the span of the caller of `next`, unless the fiber
# itself has a span.
class EnumeratorsTest < SpanCase
  def working(name, steps = 50, seconds = 0.02)
    Enumerator.new do |values|
      steps.times do |i|
        burn(name, seconds)
        values << i
      end
    end
  end

  def test_without_a_span_an_enumerator_has_its_callers_span
    profile do
      values = working(:inside)
      @tracer.in_span("caller") { 10.times { values.next && burn(:caller, 0.01) } }
    end
    assert_spans(inside: :caller)
  end

  # New fibers get the addresses of freed fibers. They must not get the spans of the freed fibers.
  def test_at_the_address_of_a_fiber_without_a_span
    profile do
      5.times do
        Array.new(300) { Fiber.new { Fiber.yield until false }.tap { |fiber| 2.times { fiber.resume } } }.clear
        GC.start
        values = Array.new(300) { working(:inside, 1, 0.002) }
        @tracer.in_span("caller") { values.first(100).each(&:next) }
      end
    end
    assert_spans(inside: :caller)
  end

  def test_alternating_callers
    profile do
      value = [nil]
      values = Enumerator.new do |yielder|
        loop do
          burn(value.first, 0.02)
          yielder << 1
        end
      end
      work = lambda do |name|
        value[0] = name
        values.next
      end
      5.times do
        @tracer.in_span("first") { work.call(:first) }
        work.call(:outside)
        @tracer.in_span("second") { 2.times { work.call(:second) } }
        value[0] = :second
        @tracer.in_span("second") { values.peek }
        @tracer.in_span("third") { values.next }
      end
    end
    assert_spans
  end

  def test_spans_inside_are_its_own
    profile do
      values = Enumerator.new do |yielder|
        loop do
          burn(:caller, 0.01)
          @tracer.start_root_span("inside").then do |span|
            OpenTelemetry::Trace.with_span(span) do
              burn(:inside, 0.02)
              yielder << 1
              burn(:inside, 0.02)
            end
          end
          burn(:caller, 0.01)
        end
      end
      @tracer.in_span("caller") { 8.times { values.next && burn(:caller, 0.02) } }
    end
    assert_spans
  end

  def test_enumerators_that_call_each_other
    profile do
      name = nil
      innermost, middle, outer = [nil, -> { innermost.next }, -> { middle.next }].map do |inner|
        Enumerator.new do |yielder|
          loop do
            inner&.call
            burn(name, 0.01)
            yielder << 1
          end
        end
      end
      4.times do
        %i[first second].each do |caller|
          name = caller
          @tracer.in_span(caller.to_s) { 2.times { outer.next && burn(name, 0.01) } }
          @tracer.in_span(caller.to_s) { [innermost, middle].each(&:next) }
        end
        name = :outside
        [outer, innermost].each(&:next)
      end
    end
    assert_spans
  end

  def test_lazy_zip_and_methods_that_make_enumerators
    profile do
      lazy = (1..Float::INFINITY).lazy.map { |i| burn(:lazy, 0.02) && i }
      each = [1, 2, 3].each
      @tracer.in_span("lazy") { 5.times { lazy.next } }
      @tracer.in_span("zipped") { [1, 2, 3].each_entry.zip(working(:zipped, 3), each) }
      ended = working(:ended, 1)
      @tracer.in_span("ended") { 3.times { ended.next rescue burn(:ended, 0.01) } }
      burn(:outside, 0.05)
    end
    assert_spans
  end

  def test_a_caller_without_a_span
    profile do
      values = working(:inside)
      @tracer.in_span("around") { Fiber.new { 5.times { values.next } }.resume }
      5.times { values.next }
    end
    assert_spans(inside: nil)
  end

  # The fiber of an enumerator waits, and the loop of a fiber scheduler resumes it. The
  # fiber's work still belongs to the span of the enumerator's caller, and not to that of the loop.
  def test_resumed_by_a_scheduler_it_has_its_callers_span
    profile do
      ready = nil
      looping = Fiber.current
      values = Enumerator.new do |yielder|
        3.times do
          burn(:caller, 0.02)
          ready = Fiber.current
          looping.transfer # switches to the loop, as the fiber_wait of a scheduler does
          burn(:caller, 0.02)
          yielder << 1
        end
      end
      caller = Fiber.new do
        @tracer.in_span("caller") { 3.times { values.next && burn(:caller, 0.02) } }
        ready = nil
        looping.transfer
      end
      @tracer.in_span("loop") do
        caller.transfer
        while ready
          burn(:loop, 0.02)
          ready.transfer
        end
      end
    end
    assert_spans
  end

  def test_labels_are_those_of_the_caller
    profile do
      values = Enumerator.new do |yielder|
        loop do
          burn(:plain, 0.02)
          Spanprof.label(inner: "yes") { burn(:inner, 0.02) }
          @tracer.in_span("own") { burn(:own, 0.02) }
          yielder << 1
        end
      end
      Spanprof.label(tenant: "acme") { 5.times { values.next } }
      5.times { values.next }
      Spanprof.label(tenant: "other") { @tracer.in_span("caller") { 5.times { values.next } } }
    end
    labels = ->(name) { @samples.select { |sample| worker(sample) == name }.map { |sample| sample.labels.slice("tenant", "inner", "span_name") }.uniq.to_set }
    other = { "tenant" => "other" }
    caller = other.merge("span_name" => "caller")
    assert_equal [{ "tenant" => "acme" }, {}, caller].to_set, labels.call(:plain)
    assert_equal [{ "tenant" => "acme" }, {}, caller].map { |set| set.merge("inner" => "yes") }.to_set, labels.call(:inner)
    own = { "span_name" => "own" }
    assert_equal [own.merge("tenant" => "acme"), own, own.merge(other)].to_set, labels.call(:own)
  end
end
