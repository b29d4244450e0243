# frozen_string_literal: true

require_relative "spans"

# Cases of work in spans, with a known CPU time for each span. Each case uses about the
# given number of CPU seconds.
module SpanCases
  PARTS = %w[fetch decode render compress audit].freeze
  MANY = (0...40).map { |index| "task#{index}" }.freeze
  Spans.name(*PARTS, *MANY, "outer", "middle", "inner", "renamed", Spans::OUTSIDE)

  # Random lengths of work, the same in each run.
  RANDOM = Random.new(5)

  class << self
    def sequence(seconds)
      until_spent(seconds) do |turn|
        name = PARTS[turn % PARTS.size]
        Spans.in_span(name) { Spans.work(name, 0.005 + RANDOM.rand(0.03)) }
      end
    end

    def threads(seconds)
      Array.new(8) { Thread.new { sequence(seconds / 8) } }.each(&:join)
    end

    def nested(seconds)
      until_spent(seconds) do
        Spans.in_span("outer") do
          Spans.work("outer", 0.006) + Spans.in_span("middle") do
            Spans.work("middle", 0.004) + Spans.in_span("inner") { Spans.work("inner", 0.01) } + Spans.work("middle", 0.004)
          end + Spans.work("outer", 0.006)
        end
      end
    end

    # Each fiber has a span, and works for up to 1 ms before the next fiber continues.
    def fibers(seconds)
      fibers = MANY.map do |name|
        Fiber.new do
          Spans.in_span(name) { loop { Fiber.yield(Spans.work(name, RANDOM.rand(0.001))) } }
        end
      end
      until_spent(seconds) { |turn| fibers[turn % fibers.size].resume }
    end

    def async_tasks(seconds)
      each = seconds / MANY.size
      Async do |task|
        MANY.each do |name|
          task.async do |child|
            Spans.in_span(name) do
              until_spent(each) { Spans.work(name, RANDOM.rand(0.002)).tap { child.sleep(RANDOM.rand(0.002)) } }
            end
          end
        end
      end
    end

    # Workers whose requests have children in separate tasks.
    def async_requests(seconds)
      each = seconds / 20
      Async do |task|
        20.times do |index|
          task.async { |worker| until_spent(each) { async_request(worker, PARTS[index % 2]) } }
        end
      end
    end

    # Four enumerators that work in their own spans, while their caller works in another
    # span between two calls.
    def enumerators(seconds)
      inside = MANY.take(4).map do |name|
        Enumerator.new do |out|
          loop { Spans.in_span(name) { 3.times { out << Spans.work(name, 0.002) } } }
        end
      end
      until_spent(seconds) do |turn|
        Spans.in_span("outer") { inside[turn % 4].next + Spans.work("outer", 0.002) }
      end
    end

    # The enumerator has no span. It works for the span that calls `next`.
    def enumerator_of_caller(seconds)
      work = Enumerator.new { |out| loop { PARTS.each { |name| out << Spans.work(name, 0.003) } } }
      until_spent(seconds) { |turn| Spans.in_span(PARTS[turn % PARTS.size]) { work.next } }
    end

    # The context is captured, and a thread of a pool attaches it.
    def pool(seconds)
      queue = Queue.new
      workers = Array.new(4) { Thread.new { while (job = queue.pop) do job.call end } }
      jobs = (seconds / 0.015).ceil
      jobs.times do |turn|
        name = PARTS[turn % PARTS.size]
        done = Queue.new
        Spans.in_span(name) do
          captured = OpenTelemetry::Context.current
          queue << -> { OpenTelemetry::Context.with_current(captured) { done << Spans.work(name, 0.015) } }
          done.pop
        end
      end
      workers.each { queue << nil }
      workers.each(&:join)
    end

    # Spans are renamed half-way, and finished by another thread.
    def renamed(seconds)
      expected = {}
      until_spent(seconds) do |turn|
        name = PARTS[turn % PARTS.size]
        expected[name] = "final #{name}"
        span = Spans.start_span(name)
        spent = OpenTelemetry::Trace.with_span(span) do
          Spans.work(name, 0.01).tap { span.name = "final #{name}" } + Spans.work(name, 0.01)
        end
        Thread.new { span.finish }.join
        spent + Spans.work(Spans::OUTSIDE, 0.004)
      end
      expected
    end

    def leaked(seconds)
      60.times { |index| Spans.start_span("leaked#{index}") }
      sequence(seconds)
    end

    # Threads exit in a span, and threads that start after them may get the same
    # pthread_t.
    def dead_threads(seconds)
      until_spent(seconds) do |turn|
        name = PARTS[turn % PARTS.size]
        Thread.new do
          OpenTelemetry::Context.attach(OpenTelemetry::Trace.context_with_span(Spans.start_span(name)))
          Spans.work(name, 0.03)
        end.value + Thread.new { Spans.work(Spans::OUTSIDE, 0.01) }.value
      end
    end

    # Threads use 10 to 40 ms of CPU time, only a few ticks of the sampling clock.
    def short_threads(seconds)
      until_spent(seconds) do |turn|
        name = PARTS[turn % PARTS.size]
        Thread.new { Spans.in_span(name) { Spans.work(name, 0.01 + RANDOM.rand(0.03)) } }.value
      end
    end

    # Bursts of 3 ms of work, with a sleep in another span after each.
    def bursts(seconds, lengths = [0.003, 0.003])
      2.times.map do
        Thread.new do
          until_spent(seconds / 2) do |turn|
            name = PARTS[turn % 2]
            spent = Spans.in_span(name) { Spans.work(name, lengths[turn % 2]) }
            asleep = PARTS[2 + (turn % 2)]
            Spans.in_span(asleep) { Spans.booked(asleep) { sleep(0.007) } }
            spent
          end
        end
      end.each(&:join)
    end

    def unequal_bursts(seconds) = bursts(seconds, [0.003, 0.001])

    def short_spans(seconds)
      until_spent(seconds) do |turn|
        name = PARTS[turn % PARTS.size]
        Spans.in_span(name) { Spans.work(name, 0.002 + RANDOM.rand(0.003)) }
      end
    end

    private

    # Calls the block with the number of the round, until it has used `seconds`. The
    # block returns the CPU time that it used.
    def until_spent(seconds)
      turn = 0
      while seconds.positive?
        seconds -= yield(turn)
        turn += 1
      end
    end

    def async_request(worker, name)
      Spans.in_span(name) do
        spent = Spans.work(name, 0.002)
        children = PARTS.last(3).map do |part|
          worker.async { |task| Spans.in_span(part) { Spans.work(part, 0.002).tap { task.sleep(0.001) } } }
        end
        spent + children.sum(&:wait) + Spans.work(name, 0.001)
      end
    end
  end
end
