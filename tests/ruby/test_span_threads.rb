# frozen_string_literal: true

require "span_case"

# Spans and threads: each thread has its own attached spans. When a thread ends, its spans are no
# longer attached.
class SpanThreadsTest < SpanCase
  # Eight threads run their own spans at the same time. Each sample must have the span name of its
  # thread.
  def test_eight_threads
    profile do
      Array.new(8) do |i|
        Thread.new do
          10.times { @tracer.in_span("thread#{i}") { burn(:"thread#{i}", 0.03) } }
          burn(:outside, 0.03)
        end
      end.each(&:join)
    end
    assert_spans
  end

  # Runs a pool of threads that wait for jobs. A job consists of a context and a block.
  def pool(size)
    jobs = Queue.new
    threads = Array.new(size) do
      Thread.new do
        while (context, job = jobs.pop)
          OpenTelemetry::Context.with_current(context) { job.call }
          burn(:outside, 0.005)
        end
      end
    end
    yield jobs
    size.times { jobs << nil }
    threads.each(&:join)
  end

  def test_a_captured_context_is_active_on_pool_threads
    profile do
      pool(4) do |jobs|
        12.times do |i|
          name = "request#{i % 3}"
          @tracer.in_span(name) { jobs << [current_context, -> { burn(name.to_sym, 0.05) }] }
        end
      end
    end
    assert_spans
  end

  def test_a_captured_context_is_active_after_its_span_ended
    profile do
      context = @tracer.in_span("ended") { current_context }
      sleep 3 # two seconds after their end, the core has forgotten the spans
      GC.start
      pool(1) do |jobs|
        jobs << [context, lambda {
          burn(:ended, 0.1)
          @tracer.in_span("child") { burn(:child, 0.1) }
          burn(:ended, 0.1)
        }]
      end
    end
    assert_spans(child: :ended)
  end

  def test_a_span_that_ends_on_another_thread_is_active_until_the_detach
    profile do
      span = @tracer.start_root_span("moved")
      OpenTelemetry::Trace.with_span(span) do
        burn(:moved, 0.1)
        Thread.new { span.finish }.join
        burn(:moved, 0.1)
      end
      burn(:outside, 0.1)
    end
    assert_spans
  end

  def test_a_thread_s_spans_end_with_it
    profile do
      20.times do
        Thread.new do
          span = @tracer.start_root_span("dead")
          OpenTelemetry::Context.attach(OpenTelemetry::Trace.context_with_span(span))
          burn(:dead, 0.05)
        end.join
        Thread.new { burn(:outside, 0.05) }.join
        Thread.new { @tracer.in_span("alive") { burn(:alive, 0.05) } }.join
      end
    end
    assert_spans
  end

  def test_a_killed_thread_leaves_no_span
    profile do
      10.times do
        started = Queue.new
        thread = Thread.new { started.push(1) && @tracer.in_span("killed") { loop { burn(:killed, 0.002) } } }
        started.pop
        burn(:outside, 0.02)
        thread.kill.join
        Thread.new { burn(:outside, 0.02) }.join
      end
    end
    assert_spans
  end

  # The time of a thread after its last tick is recorded when the thread ends: with the thread's
  # span, but not as time of a method.
  def test_short_threads
    profile { 60.times { |i| Thread.new { @tracer.in_span("short") { burn(:short, 0.01 + i / 4000.0) } }.join } }
    assert_equal ["short"], names_of(@samples.select { |sample| worker(sample) == :short })
    labelled_s = @samples.sum { |sample| sample.labels["span_name"] == "short" ? sample.cpu_ns : 0 } / 1e9
    assert_in_delta truth(:short), labelled_s, noise_s(:short)
  end

  def test_work_without_the_gvl
    profile do
      data = Random.bytes(1 << 20)
      threads = %w[deflate0 deflate1].map do |name|
        Thread.new { @tracer.in_span(name) { 8.times { Zlib.deflate(data) } } }
      end
      threads.each(&:join)
    end
    deflate = @samples.select { |sample| sample.in?(/deflate/) }
    assert_equal %w[deflate0 deflate1], names_of(deflate).sort
  end
end
