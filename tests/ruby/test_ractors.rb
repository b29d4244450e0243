# frozen_string_literal: true

require "child"

# Ractors other than the main one are sampled, and the gem raises no exceptions in them.
class RactorsTest < ChildTest
  START = <<~'RUBY'
    require "spanprof"
    Warning[:experimental] = false
    Spanprof.start(log_level: :off) || abort(Spanprof.unavailable_reason)
    def result(ractor) = ractor.respond_to?(:value) ? ractor.value : ractor.take
  RUBY

  def test_public_methods_do_nothing_in_ractors
    result = child!(START + <<~'RUBY')
      p(result(Ractor.new do
        [Spanprof.label(a: 1) { 7 }, Spanprof.running?, Spanprof.start, Spanprof.stop, Spanprof.flush, Spanprof.stats,
         Spanprof.available?]
      end))
      p Spanprof.running?
    RUBY
    assert_equal "[7, true, false, nil, nil, {}, false]\ntrue\n", result.out, result.err
  end

  def test_fibers_threads_and_enumerators_are_unchanged
    result = child!(START + <<~'RUBY')
      Spanprof.label(a: 1) do
        p(result(Ractor.new do
          [Fiber.new { 1 }.resume, Thread.new { Fiber.new { 2 }.resume }.value, [3].each.next, GC.auto_compact = false]
        end))
      end
    RUBY
    assert_equal "[1, 2, 3, false]\n", result.out, result.err
  end

  def test_contexts_and_spans_are_unchanged
    result = child!(START + <<~'RUBY')
      require "opentelemetry/sdk"
      provider = OpenTelemetry::SDK::Trace::TracerProvider.new
      provider.add_span_processor Spanprof::SpanProcessor.new
      provider.tracer("test").in_span("first") {}
      renamed = Class.new { attr_accessor :name }
      Spanprof::Override.install(renamed, Spanprof::Otel::RenameHook)
      p(result(Ractor.new(Ractor.make_shareable(Spanprof::SpanProcessor.new), renamed) do |there, class_renamed|
        context = OpenTelemetry::Context.new({}.freeze)
        named = class_renamed.new
        named.name = "new"
        [OpenTelemetry::Context.with_current(context) { OpenTelemetry::Context.current.equal?(context) },
         OpenTelemetry::Context.clear, there.on_start(nil, nil), there.on_finish(nil), named.name]
      end))
    RUBY
    assert_equal %([true, [], nil, nil, "new"]\n), result.out, result.err
  end

  # Maximum delay in s until threads of other Ractors are sampled. The gem does not report these
  # threads to the core, so the core's next search for new threads has to find them (collector.c,
  # COLLECTOR_SCAN_NS).
  FOUND_S = 0.15

  def test_ractors_are_sampled
    child!(START + <<~'RUBY')
      work = Ractor.new do
        finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 1
        while (left_s = finish - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
          until_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + left_s
          nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < until_s
        end
        20.times { Thread.new { Fiber.new { 1 }.resume }.join }
      end
      Spanprof.label(a: 1) { burn 0.5 }
      result(work)
      Spanprof.stop(timeout: 20) || abort("the profile was not written in time")
    RUBY
    labelled, others = samples.partition { |sample| sample.labels["a"] == "1" }
    others.reject! { |sample| sample.in?("<main>") }
    assert_burned(0.5, labelled)
    assert_in_delta 1 - FOUND_S / 2, seconds(others), FOUND_S / 2 + noise_s(1)
  end

  def test_exec_and_exit_in_a_ractor_deliver_the_last_samples
    { "exec 'exit 10'" => 10, "exit! 4" => 4, "Process.exit!(5)" => 5 }.each do |ending, status|
      FileUtils.rm_rf(@profiles)
      result = child(START + "burn 0.5\nresult(Ractor.new { #{ending} })")
      assert_equal status, result.status.exitstatus, "#{ending}: #{result.err}"
      assert_burned(0.5, samples, message: ending)
    end
  end

  def test_a_failed_exec_in_a_ractor_raises_its_own_error
    result = child!(START + <<~'RUBY')
      p(result(Ractor.new do
        exec "/nonexistent/program"
      rescue SystemCallError => e
        e.class
      end))
    RUBY
    assert_equal "Errno::ENOENT\n", result.out, result.err
  end

  def test_require_in_a_ractor_is_unchanged
    program = <<~'RUBY'
      Warning[:experimental] = false
      p(Ractor.new do
        require "set"
      rescue Exception => e
        e.class
      end.then { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take })
    RUBY
    plain = child!(program, "--disable-gems").out
    result = child!("require 'spanprof/autostart'\n#{program}", "--disable-gems", env: { "RUBYLIB" => "#{LIBRARY}:#{extension}" })
    assert_equal plain, result.out, result.err
  end

  # Returns the folder of the extension, which a Ruby without RubyGems needs.
  def extension
    require "spanprof"
    File.dirname($LOADED_FEATURES.grep(/spanprof_native/).first, 2)
  end
end
