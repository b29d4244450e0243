# frozen_string_literal: true

require "child"

# Samples have the right frames in all threads: in threads that existed before the start, in new
# threads, in fibers, and in native threads that do not run Ruby code.
class ThreadsTest < ChildTest
  def assert_burned_in(name, true_s, **noise)
    assert_burned(true_s, samples.select { |sample| sample.in?(name) }, hz: 250, message: name, **noise)
  end

  def test_threads_that_existed_before_the_start
    child!(<<~'RUBY')
      require "spanprof"
      go = Queue.new
      def before = burn(0.3)
      def fibered = Fiber.new { burn(0.3) }.resume
      threads = [Thread.new { go.pop; before }, Thread.new { go.pop; fibered }]
      Thread.pass until threads.all? { |thread| thread.status == "sleep" }
      Spanprof.start(sample_rate_hz: 250)
      2.times { go << 1 }
      threads.each(&:join)
      Spanprof.stop
    RUBY
    ["Object#before", "block in Object#fibered"].each { |name| assert_burned_in(name, 0.3) }
  end

  def test_threads_created_after_the_start
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def short = burn(0.03)
      10.times.map { Thread.new { short } }.each(&:join)
      Spanprof.stop
    RUBY
    assert_burned_in("Object#short", 0.3, stretches: 10)
  end

  def test_reused_native_threads
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def first = burn(0.05) && raise("ended so")
      def second = burn(0.05)
      4.times do
        Thread.new { Thread.current.report_on_exception = false; burn(0.02); raise "ended so" }.join rescue nil
        Thread.new { second }.join
      end
      Spanprof.stop
    RUBY
    assert_burned_in("Object#second", 0.2, stretches: 4)
  end

  def test_all_threads_are_found_after_a_stop_and_a_start
    child!(<<~'RUBY')
      require "spanprof"
      go, done = Queue.new, Queue.new
      def again = burn(0.2)
      Thread.new { loop { go.pop; again; done << 1 } }
      2.times do
        Spanprof.start(sample_rate_hz: 250)
        go << 1
        done.pop
        Spanprof.stop
      end
    RUBY
    assert_burned_in("Object#again", 0.4, stretches: 2)
  end

  def test_a_native_thread_without_ruby_has_native_frames
    child!(<<~'RUBY')
      require "spanprof"
      require "fiddle"
      pool = Fiddle.dlopen(nil)
      Spanprof.start(sample_rate_hz: 250)
      create = Fiddle::Function.new(pool["pthread_create"], [Fiddle::TYPE_VOIDP] * 4, Fiddle::TYPE_INT)
      join = Fiddle::Function.new(pool["pthread_join"], [Fiddle::TYPE_LONG, Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT)
      text = Fiddle::Pointer.malloc(30_000_000, Fiddle::RUBY_FREE)
      text[0, 30_000_000] = "x" * 29_999_999 + "\0"
      thread = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
      # strfry() of glibc mixes the characters of the text. It needs a second of CPU time on a
      # thread that does not run Ruby code.
      create.call(thread, nil, pool["strfry"], text)
      join.call(thread[0, 8].unpack1("q"), nil)
      Spanprof.stop
    RUBY
    native = samples.select { |sample| sample.in?("strfry") }
    refute_empty native
    assert_empty(native.select { |sample| sample.in?("<main>") })
  end

  def test_our_own_threads_are_not_in_the_profile
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 1000, upload_interval_ms: 100)
      round = 0
      def working(round) = eval("def made#{round} = 100.times { |n| n.to_s }\nmade#{round}")
      repeat(1) { working(round += 1) }
      p Thread.list.map(&:name).include?("spanprof")
      Spanprof.stop
      p Thread.list.size
    RUBY
    assert_burned_in("Object#working", 1)
    assert_empty(samples.select { |sample| sample.stack.any?(/naming|rb_sp_|spanprof_runtime/) && !sample.in?("<main>") })
  end

  def test_joining_all_threads_does_not_wait_for_ours
    result = child!(<<~'RUBY', limit: 20)
      require "spanprof"
      Spanprof.start(log_level: :off)
      threads = Array.new(3) { Thread.new { burn 0.1 } }
      all = Thread.list - [Thread.current]
      all.each(&:join).each(&:value)
      p threads.none?(&:alive?), all.map(&:name).include?("spanprof")
    RUBY
    assert_equal "true\ntrue\n", result.out
  end

  def test_our_killed_thread_is_restarted
    result = child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250, upload_interval_ms: 500)
      (ThreadGroup::Default.list - [Thread.main]).each(&:kill).each(&:join)
      def after = burn(3)
      after
      p Thread.list.map(&:name).include?("spanprof")
    RUBY
    assert_equal "true\n", result.out
    assert_empty(samples.select { |sample| sample.in?("(unknown)") })
    assert_burned_in("Object#after", 3)
  end

  def test_the_exit_kills_our_thread
    child!(<<~'RUBY')
      at_exit { (Thread.list - [Thread.main]).each(&:kill).each(&:join); burn 2.5 }
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250, upload_interval_ms: 500)
      burn 0.1
    RUBY
    assert_burned(2.6, samples, hz: 250)
  end

  def test_fibers_and_enumerators
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def one = burn(0.01)
      def two = burn(0.02)
      ring = [Fiber.new { loop { one; Fiber.yield } }, Fiber.new { loop { two; Fiber.yield } }]
      20.times { ring.each(&:resume) }
      Spanprof.stop
    RUBY
    assert_burned_in("Object#one", 0.2, stretches: 20)
    assert_burned_in("Object#two", 0.4, stretches: 20)
  end
end
