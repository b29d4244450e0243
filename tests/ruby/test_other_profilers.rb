# frozen_string_literal: true

require "child"

# The profiler must not disturb the program and its other gems.
class OtherProfilersTest < ChildTest
  START = %(require "spanprof"\nSpanprof.start(log_level: :off) or abort(Spanprof.unavailable_reason)\n)

  TRAP = <<~'RUBY'
    $signals = 0
    trap("PROF") { $signals += 1 }
  RUBY

  RAISE = <<~'RUBY'
    3.times { |i| Process.kill("PROF", $$); sleep 0.001 until $signals == i + 1 }
    burn 0.3
    sleep 0.05
    p $signals
  RUBY

  def test_a_program_s_own_sigprof_before_the_start
    assert_equal "3\n", child!(TRAP + START + RAISE).out
    assert_burned(0.3, burnt)
  end

  def test_a_program_s_own_sigprof_after_the_start
    assert_equal "3\n", child!(START + TRAP + RAISE).out
    assert_burned(0.3, burnt)
  end

  # Prints the results or exceptions of calls that block. Each call runs next to a busy thread.
  CALLS = <<~'RUBY'
    require "fiddle"
    require "socket"
    require "timeout"
    Thread.new { loop { burn 0.1 } }
    libc = Fiddle.dlopen(nil)
    USLEEP = Fiddle::Function.new(libc["usleep"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT)
    POLL = Fiddle::Function.new(libc["poll"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG, Fiddle::TYPE_INT],
                                Fiddle::TYPE_INT)
    def late(value)
      reader, writer = IO.pipe
      Thread.new { sleep 0.15; writer.write(value); writer.close }
      reader
    end
    def wait_on_condition
      mutex = Mutex.new
      mutex.synchronize { ConditionVariable.new.wait(mutex, 0.2) }
    end
    def accept_late
      server = TCPServer.new("127.0.0.1", 0)
      Thread.new { sleep 0.1; TCPSocket.new("127.0.0.1", server.addr[1]) }
      server.accept
    end
    def waited(least)
      began = clock
      value = yield
      clock - began >= least * 0.99 ? value : "only #{clock - began} s: #{value.inspect}"
    end
    CALLS = {
      sleep: -> { waited(0.2) { sleep 0.2 } .class },
      usleep: -> { waited(0.2) { USLEEP.call(200_000) } },
      poll: -> { waited(0.2) { POLL.call(nil, 0, 200) } },
      read: -> { late("abc").read },
      sysread: -> { late("abc").sysread(3) },
      readpartial: -> { late("abc").readpartial(10) },
      select: -> { waited(0.2) { IO.select([IO.pipe[0]], nil, nil, 0.2) } },
      condition: -> { waited(0.2) { wait_on_condition }.class },
      join: -> { waited(0.2) { Thread.new { sleep }.join(0.2) } },
      system: -> { system("sleep 0.1") },
      backticks: -> { `sleep 0.1; echo a` },
      wait: -> { Process.wait(spawn("sleep 0.1")).class },
      flock: -> { File.open(__FILE__) { |f| f.flock(File::LOCK_EX) } },
      accept: -> { accept_late.class },
      children: -> { Dir.children("/proc").size > 5 },
      timeout: -> { begin; Timeout.timeout(0.1) { sleep }; rescue Timeout::Error => e; e.class; end }
    }
    3.times { CALLS.each { |name, call| puts "#{name} #{call.call.inspect}" } }
  RUBY

  def test_blocking_calls_are_not_interrupted
    # On a machine with a load of 12, some versions of Ruby need 75 s for each of the two programs.
    assert_equal child!(CALLS, limit: 600).out, child!(START + CALLS, limit: 600).out
  end

  # Whether Ruby itself has another native thread (for timers), which may get SIGPROF.
  TIMER_THREAD = RUBY_VERSION >= "3.3"

  # Profilers of other gems, each with the clock that it uses and a method that returns its number
  # of samples while the program burns CPU time.
  PROFILERS = {
    "stackprof" => ["CLOCK_PROCESS_CPUTIME_ID", <<~'RUBY'],
      def counted = StackProf.run(mode: :cpu, interval: 10_000) { burn 0.4 }[:samples]
    RUBY
    "vernier" => ["CLOCK_MONOTONIC", <<~'RUBY'],
      def counted = Vernier.profile(interval: 10_000) { burn 0.4 }.main_thread[:weights].sum
    RUBY
    "datadog" => ["CLOCK_MONOTONIC", <<~'RUBY']
      Datadog.configure do |config|
        config.profiling.enabled = true
        config.tracing.enabled = config.telemetry.enabled = false
        config.agent.port = 9 # no server listens on this port
        # with the default, it takes fewer samples on a busy machine
        config.profiling.advanced.overhead_target_percentage = 20.0
      end
      Datadog::Profiling.wait_until_running
      WORKER = Datadog.send(:components).profiler.instance_variable_get(:@worker)
      def counted
        before = WORKER.stats[:cpu_sampled]
        burn 0.4
        WORKER.stats[:cpu_sampled] - before
      end
    RUBY
  }.freeze

  # Prints the counts and seconds of the other profiler, first for all rounds without spanprof, then
  # for all rounds with it. Rounds with and without spanprof alternate in one process, because the
  # load of the machine changes how often a thread is sampled.
  ROUNDS = 6
  ALTERNATELY = <<~RUBY
    cases = { false => [], true => [] }
    #{ROUNDS}.times do
      cases.each do |profiled, round|
        if profiled
          #{START.sub(")", ", sample_rate_hz: HZ)")}
        end
        began = Process.clock_gettime(CLOCK)
        round << counted << Process.clock_gettime(CLOCK) - began
        Spanprof.stop if profiled
      end
    end
    p(*cases.values.flatten)
  RUBY

  PROFILERS.each do |name, (clock, code)|
    define_method("test_#{name}_counts_the_same_with_and_without_spanprof") do
      skip("no #{name} among the tests' gems of this Ruby") if Gem::Specification.find_all_by_name(name).empty?
      # The other profiler misses a signal that arrives together with a signal of spanprof (see the
      # README). At 10 Hz this is rare.
      hz = name == "stackprof" && TIMER_THREAD ? 10 : 100
      out = child!(%(require "#{name}"\nCLOCK = Process::#{clock}\nHZ = #{hz}\n#{code}#{ALTERNATELY})).out
      cases = out.split.map(&:to_f).each_slice(2).each_slice(ROUNDS).to_a
      alone, profiled = cases.map { |round| round.transpose.map(&:sum) }
      rates = cases.map { |round| round.map { |count, seconds| count / seconds } }
      assert_operator alone[0], :>, 20
      assert_in_delta alone[0] / alone[1], profiled[0] / profiled[1],
                      [Noise.rates(alone, profiled), Noise.six_rounds(*rates)].max, out
      assert_burned(0.4 * ROUNDS, burnt, hz: hz, stretches: ROUNDS)
    end
  end

  def test_stackprof_gets_all_its_samples
    skip("no stackprof among the tests' gems of this Ruby") if Gem::Specification.find_all_by_name("stackprof").empty?
    skip("a thread of Ruby's own gets SIGPROF") if TIMER_THREAD
    out = child!(START + <<~'RUBY').out
      require "stackprof"
      p StackProf.run(mode: :cpu, interval: 10_000) { burn 1.5 }.values_at(:samples, :missed_samples)
    RUBY
    samples, missed = out.scan(/\d+/).map(&:to_i)
    assert_operator samples, :>, 20
    assert_equal 0, missed
  end

  def test_both_gems_in_a_bundle_are_reported_once
    result = child!(<<~'RUBY')
      specification = Gem::Specification.new { |spec| spec.name = "pyroscope"; spec.version = "1.1.1" }
      Gem.loaded_specs["pyroscope"] = specification
      require "spanprof"
      2.times { Spanprof.start }
    RUBY
    assert_equal "spanprof: the gem pyroscope is loaded next to spanprof, which replaces it: " \
                 "remove it from the Gemfile\n", result.err
  end

  def test_a_refused_start_does_not_hide_a_deadlock
    result = child(<<~'RUBY', limit: 10)
      require "spanprof"
      Spanprof.start(sample_rate_hz: 0)
      sleep 0.01 until Thread.list.one?
      Queue.new.pop
    RUBY
    assert_match(/No live threads left. Deadlock\?/, result.err)
  end

  DEADLOCKS = [
    "Queue.new.pop", "Thread.new { Queue.new.pop }.join", "Thread.stop",
    "lock = Mutex.new; Thread.new { lock.lock; Queue.new.pop }; sleep 0.1; lock.lock",
    "lock = Mutex.new; lock.synchronize { ConditionVariable.new.wait(lock) }",
    "Thread.new { sleep 1.5 }.join; Queue.new.pop",
    "queue = Queue.new; Thread.new { sleep 1.5; queue.pop }; queue.pop"
  ].freeze

  # Runs all programs at the same time and returns their results.
  def ends(programs, limit:)
    programs.each_with_index.map do |code, i|
      path = program("program#{i}", code)
      Thread.new { [code, run_command(RbConfig.ruby, path, limit: limit)] }
    end.map(&:value)
  end

  EVERY_MILLISECOND = %(require "spanprof"; Spanprof.start(sample_rate_hz: 1000)\n)

  def test_a_deadlock_of_the_program_is_found_during_profiling
    ends(DEADLOCKS.map { |code| EVERY_MILLISECOND + code }, limit: 60).each do |program, result|
      assert_match(/No live threads left. Deadlock\?/, result.err, program)
      assert_equal 1, result.status.exitstatus, program
    end
  end

  # Programs whose threads wait for a long time, but not forever.
  WAITS = [
    "queue = Queue.new; Thread.new { sleep 4; queue << 1 }; queue.pop",
    "lock = Mutex.new; Thread.new { lock.synchronize { sleep 4 } }; sleep 0.1; lock.lock",
    "lock = Mutex.new; lock.synchronize { ConditionVariable.new.wait(lock, 4) }",
    "Thread.new { sleep 4 }.join",
    "reader, writer = IO.pipe; fork { reader.close; sleep 4 }; writer.close; Thread.new { Queue.new.pop }; reader.read",
    "trap('USR1') { exit }; fork { sleep 4; Process.kill('USR1', Process.ppid) }; Thread.new { Queue.new.pop }; sleep",
    # Ruby itself does not check for a deadlock when a thread ends.
    "q = Queue.new; trap('USR1') { q << 1 }; fork { sleep 4; Process.kill('USR1', Process.ppid) }; Thread.new { sleep 1 }; q.pop",
    "queue = Queue.new; Thread.new { loop { sleep 0.3; queue << 1 } }; 14.times { queue.pop; burn 0.01 }"
  ].freeze

  def test_long_waits_are_not_reported_as_deadlocks
    ends(WAITS.map { |code| EVERY_MILLISECOND + code }, limit: 60).each do |program, result|
      assert result.status.success?, "#{program}: #{result.err}"
      assert_operator result.seconds, :>, 3, program
    end
  end

  def test_frames_have_names_after_a_rescued_deadlock
    result = child!(EVERY_MILLISECOND.sub(")", ", upload_interval_ms: 500)") + <<~'RUBY')
      def after = burn(3)
      begin
        Queue.new.pop
      rescue Exception => e
        p e.class
      end
      after
      p Thread.list.map(&:name).include?("spanprof")
    RUBY
    assert_equal %w[fatal true], result.out.split
    assert_empty(samples.select { |sample| sample.in?("(unknown)") })
  end

  def test_a_deadlock_of_the_program_is_found_after_a_stop
    result = child(START + "Spanprof.stop\nsleep 0.01 until Thread.list.one?\nQueue.new.pop", limit: 10)
    assert_match(/No live threads left. Deadlock\?/, result.err)
  end
end
