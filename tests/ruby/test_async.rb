# frozen_string_literal: true

require "span_case"
require "async"

# Spans in programs with a fiber scheduler. The tasks of the gem async are fibers that its event
# loop resumes.
class AsyncTest < SpanCase
  def test_forty_tasks
    profile do
      Sync do |task|
        Array.new(40) do |i|
          task.async do
            name = :"task#{i % 8}"
            @tracer.in_span(name.to_s) do
              (4 + i % 4).times do
                burn(name, 0.005)
                sleep 0.001
              end
            end
            burn(:outside, 0.002)
          end
        end.each(&:wait)
      end
    end
    assert_spans
  end

  def test_workers_whose_requests_have_child_tasks
    profile do
      Sync do |task|
        Array.new(20) { |i| task.async { request(task, i % 4) } }.each(&:wait)
      end
    end
    assert_spans
  end

  def request(task, number)
    2.times do
      @tracer.in_span("request#{number}") do
        burn(:"request#{number}", 0.005)
        children = Array.new(2) do
          task.async do
            # OpenTelemetry attaches no context to a new task.
            burn(:outside, 0.002)
            @tracer.in_span("child#{number}") { burn(:"child#{number}", 0.005).then { sleep 0.001 } }
          end
        end
        children.each(&:wait)
        burn(:"request#{number}", 0.005)
      end
    end
  end

  def test_enumerators_in_tasks_have_the_span_of_their_task
    profile do
      Sync do |task|
        Array.new(6) do |i|
          task.async do
            name = :"task#{i % 3}"
            values = Enumerator.new do |yielder|
              loop do
                burn(name, 0.005)
                sleep 0.001
                burn(name, 0.005)
                yielder << 1
              end
            end
            @tracer.in_span(name.to_s) do
              5.times do
                values.next
                sleep 0.001
              end
            end
          end
        end.each(&:wait)
      end
    end
    assert_spans
  end

  def test_tasks_do_not_have_the_span_around_the_loop
    profile do
      @tracer.in_span("around") do
        Sync do |task|
          burn(:outside, 0.05) # this block itself runs as a task
          task.async { burn(:outside, 0.05) && sleep(0.001) && burn(:outside, 0.05) }.wait
        end
        burn(:around, 0.05)
      end
    end
    assert_spans
  end
end
