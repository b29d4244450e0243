# frozen_string_literal: true

require "child"
require "push_server"

# Spanprof.start, stop and flush, and their results.
class ApiTest < ChildTest
  def test_profiles_from_start_to_stop
    result = child!(<<~'RUBY')
      require "spanprof"
      p Spanprof.running?, Spanprof.available?
      p Spanprof.start, Spanprof.running?
      burn 0.3
      p Spanprof.flush, Dir[ENV["PYROSCOPE_OUTPUT_DIRECTORY"] + "/*"].size
      burn 0.2
      p Spanprof.stop, Spanprof.running?, Spanprof.stop, Spanprof.flush
      p Spanprof.stats[:samples_taken] == Spanprof.stats[:samples_exported]
      p Spanprof.stats[:handler_histogram].sum == Spanprof.stats[:samples_taken]
    RUBY
    assert_equal %w[false true true true true 1 true false nil nil true true], result.out.split
    assert_burned(0.5, burnt, stretches: 2)
    assert_empty result.err
  end

  def test_no_samples_during_a_pause
    result = child!(<<~'RUBY')
      require "spanprof"
      def left_out = burn(0.3)
      p Spanprof.pause, Spanprof.resume
      Spanprof.start(sample_rate_hz: 250)
      burn 0.2
      p Spanprof.pause, Spanprof.pause, Spanprof.running?
      left_out
      Thread.new { left_out }.join
      Process.wait(fork { left_out; exit!(Spanprof.stats[:samples_taken] == 0) })
      p $?.success?, Spanprof.flush, Spanprof.resume
      burn 0.2
      Spanprof.stop
      p Spanprof.pause
    RUBY
    assert_equal %w[nil nil true true true true true true nil], result.out.split
    assert_empty samples.select { |sample| sample.in?("Object#left_out") }
    assert_burned(0.4, burnt, hz: 250, stretches: 2)
  end

  def test_a_second_start_replaces_the_first
    PushServer.run do |server|
      result = child!(<<~'RUBY', env: { "PYROSCOPE_SERVER_ADDRESS" => server.address })
        require "spanprof"
        3.times do |round|
          p Spanprof.start(labels: { round: round })
          burn 0.1
        end
        Spanprof.stop
        p Spanprof.start(labels: { round: "after stop" })
        burn 0.1
      RUBY
      assert_equal ["true"] * 4, result.out.split
      assert_equal ["0", "1", "2", "after stop"], server.uploads.map { |upload| upload.labels["round"] }.sort
    end
  end

  def test_a_wrong_option_is_logged_and_the_program_continues
    result = child!(<<~'RUBY')
      require "spanprof"
      p Spanprof.start(sample_rate_hz: 0), Spanprof.running?, Spanprof.available?
      puts Spanprof.unavailable_reason
      p Spanprof.start, Spanprof.unavailable_reason
    RUBY
    assert_equal ["false", "false", "false", "sample_rate_hz is 0, not within 1 to 1000", "true", "nil"],
                 result.out.lines(chomp: true)
    assert_equal "spanprof: not profiling: sample_rate_hz is 0, not within 1 to 1000\n", result.err
  end

  def test_arguments_of_a_wrong_type_do_not_raise
    result = child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start
      p Spanprof.label({ "a" => 1 }, b: 2) { burn(0.1); 1 }, Spanprof.label(3) { 4 }, Spanprof.label(a: 5)
      p Spanprof.flush(timeout: nil), Spanprof.flush(timeout: "long"), Spanprof.flush(timeout: Float::INFINITY)
      p Spanprof.stop(timeout: Float::NAN)
    RUBY
    assert_equal %w[1 4 nil true true true true], result.out.split
    assert_equal [{ "a" => "1", "b" => "2" }], burnt.map { |sample| sample.labels.slice("a", "b") }.uniq
    assert_equal <<~LINES, result.err
      spanprof: labels must be a Hash, not a value of class Integer
      spanprof: labels without a block have no effect: give a block
      spanprof: a timeout must be a number of seconds, not "long": 10 s is used
      spanprof: a timeout must be a number of seconds, not NaN: 2 s is used
    LINES
  end

  def test_a_refused_start_raises_if_profiling_is_required
    result = child(%(require "spanprof"; Spanprof.start(sample_rate_hz: 0)), env: { "SPANPROF_REQUIRED" => "1" })
    refute result.status.success?
    assert_match(/sample_rate_hz is 0, not within 1 to 1000 \(Spanprof::Error\)/, result.err)
  end

  def test_the_environment_disables_profiling
    result = child!(%(require "spanprof"; p Spanprof.start; puts Spanprof.unavailable_reason),
                    env: { "PYROSCOPE_AGENT_ENABLED" => "false" })
    assert_equal "false\nprofiling is off: PYROSCOPE_AGENT_ENABLED is false\n", result.out
    assert_empty result.err
  end

  def test_without_the_extension_nothing_is_profiled_and_there_is_a_reason
    FileUtils.cp_r(LIBRARY, "#{@directory}/library")
    FileUtils.rm_f(Dir["#{@directory}/library/spanprof/spanprof_native.*"])
    File.write("#{@directory}/library/spanprof/skipped_reason.txt", "zlib.h is missing\n")
    result = child!(<<~'RUBY', "--disable-gems", env: { "RUBYLIB" => "#{@directory}/library" })
      require "pyroscope"
      p Spanprof.start, Spanprof.running?, Spanprof.stop, Spanprof.flush, Spanprof.stats, Spanprof.available?
      puts Spanprof.unavailable_reason
      p Pyroscope.configure { |config| config.application_name = "x" }
      p Spanprof.label(a: 1) { 2 }, Pyroscope.tag_wrapper({ "a" => 1 }) { 3 }
      Pyroscope._add_tags({ "a" => 1 })
      Pyroscope.stop
      fork { exit! }
      Process.wait
      exec "true"
    RUBY
    assert_equal ["false", "false", "nil", "nil", "{}", "false", "zlib.h is missing", "false", "2", "3"],
                 result.out.lines(chomp: true)
    assert_equal "spanprof: not profiling: zlib.h is missing\n" * 2, result.err
  end

  def test_another_engine_has_a_reason
    result = child!(<<~'RUBY')
      Object.send(:remove_const, :RUBY_ENGINE)
      RUBY_ENGINE = "truffleruby"
      require "pyroscope"
      p Pyroscope.configure { |config| config.application_name = "x" }
      puts Spanprof.unavailable_reason
    RUBY
    assert_equal "false\ntruffleruby is not supported: profiling needs CRuby\n", result.out
  end

  def test_another_system_has_a_reason
    result = child!(<<~'RUBY')
      RbConfig::CONFIG["host_os"] = "darwin23"
      require "spanprof"
      p Spanprof.start
      puts Spanprof.unavailable_reason
    RUBY
    assert_equal "false\ndarwin23 is not supported: profiling needs Linux\n", result.out
  end

  def test_without_rubygems
    code = "require 'spanprof'\np Spanprof.start, Spanprof.unavailable_reason\nburn 0.1"
    result = child!(code, "--disable-gems", "-I#{LIBRARY}")
    assert_equal "true\nnil\n", result.out, result.err
    assert_burned(0.1, burnt)
  end

  def test_with_yjit
    skip("this Ruby has no YJIT") unless system(RbConfig.ruby, "--yjit", "-e", "", err: File::NULL)
    child!("require 'spanprof'\nSpanprof.start\nburn 0.3", "--yjit")
    assert_burned(0.3, burnt)
  end

  def test_an_interrupted_stop_still_stops
    frozen_server do |address|
      result = child!(<<~'RUBY', env: { "PYROSCOPE_SERVER_ADDRESS" => address })
        require "spanprof"
        require "timeout"
        Spanprof.start
        burn 0.1
        began = clock
        begin
          Timeout.timeout(0.2) { Spanprof.stop(timeout: 1) }
        rescue Timeout::Error => e
          p e.class, clock - began < 1.5
        end
        p Spanprof.running?, Spanprof.start
      RUBY
      assert_equal %w[Timeout::Error true false true], result.out.split
    end
  end

  def test_start_and_stop_in_a_signal_handler
    result = child!(<<~'RUBY')
      require "logger"
      require "spanprof"
      Spanprof.logger = Logger.new($stdout, formatter: ->(_, _, _, line) { "#{line}\n" })
      trap("USR1") { p Spanprof.start }
      trap("USR2") { p Spanprof.stop }
      Process.kill("USR1", $$)
      burn 0.1
      Process.kill("USR2", $$)
      sleep 0.01 while Spanprof.running?
      Process.kill("USR1", $$)
      sleep 0.01 until Spanprof.running?
      trap("TERM") { exit!(true) }
      Process.kill("TERM", $$)
      sleep
    RUBY
    assert_equal 3, result.out.lines.grep(/\Atrue$/).size, result.out + result.err
    assert_burned(0.1, burnt)
  end

  # A refused start has to stop the naming thread and waits for it, as a stop does.
  def test_a_thread_killed_in_a_start_or_stop_ends
    result = child!(<<~'RUBY')
      require "spanprof"
      20.times do |i|
        options = i.odd? ? { sample_rate_hz: 0 } : {}
        thread = Thread.new { loop { Spanprof.start(log_level: :off, **options); Spanprof.stop } }
        sleep 0.02
        p thread.kill.join(5).class
      end
    RUBY
    assert_equal ["Thread"] * 20, result.out.split
  end

  # Each start replaces the running session, and the last stop ends the last session, even if other
  # threads start and stop sessions at the same time.
  def test_many_threads_start_and_stop
    result = child!(<<~'RUBY')
      require "spanprof"
      p(Array.new(20) do
        started = Array.new(8) do
          Thread.new do
            Array.new(8) do
              Spanprof.start(log_level: :off).tap do
                Spanprof.flush
                Spanprof.stop
              end
            end
          end
        end.flat_map(&:value)
        Spanprof.stop
        [*started, Spanprof.start(log_level: :off)]
      end.flatten.tally)
      burn 0.3
    RUBY
    assert_equal "{true=>1300}", result.out.strip.delete(" "), result.err
    assert_burned(0.3, burnt)
  end

  def test_recordings_of_many_threads_during_starts_and_stops
    result = child!(<<~'RUBY')
      require "spanprof"
      recording = Spanprof.const_get(:Native)::Recording
      threads = [true, false, true].map do |own|
        Thread.new { Array.new(30) { recording.begin(own, nil, nil, nil).tap { sleep 0.002 }.end.first.class } }
      end
      threads << Thread.new { Array.new(30) { Spanprof.start(log_level: :off) ? String : Spanprof.stop } }
      p threads.flat_map(&:value).tally.to_a, Spanprof.stop.class, Thread.list.any? { |thread| thread.name == "spanprof" }
    RUBY
    assert_equal ["[[String, 120]]", "TrueClass", "false"], result.out.split("\n"), result.err
  end
end
