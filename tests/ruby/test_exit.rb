# frozen_string_literal: true

require "child"
require "push_server"

# In whatever way a program exits, its last samples are delivered within 2 seconds.
class ExitTest < ChildTest
  # Maximum delay of an exit, in seconds.
  END_S = 2.0

  START = <<~'RUBY'
    require "spanprof"
    Spanprof.start(log_level: :off)
  RUBY

  # Code that exits, and the resulting status.
  ENDS = {
    "" => 0, "exit 3" => 3, "exit! 4" => 4, "Process.exit!(5)" => 5, "Kernel.exit!(6)" => 6, "abort" => 1,
    "raise 'oops'" => 1, "Thread.new { Thread.main.raise(SystemExit.new(7)) }.join; sleep" => 7,
    "at_exit { exit! 8 }" => 8, "throw :nobody" => 1, "Process.kill('TERM', $$); sleep" => 15,
    "trap('TERM') { exit! 9 }; Process.kill('TERM', $$); sleep" => 9,
    "exec 'exit 10'" => 10, "Process.exec('sh', '-c', 'exit 11')" => 11,
    "Kernel.exec({ 'A' => '12' }, 'exit $A')" => 12,
    "exec(['sh', 'name'], '-c', 'exit 13', out: :err)" => 13
  }.freeze

  def test_each_exit_delivers_the_last_samples
    ENDS.each do |code, status|
      FileUtils.rm_rf(@profiles)
      result = child(START + "burn 0.15\n#{code}")
      # timeout(1) exits with its own status when a signal kills the program.
      ended = result.status.exitstatus || result.status.termsig
      assert_includes [status, status + 128], ended, "#{code}: #{result.err}"
      assert_burned(0.15, burnt, message: "#{code}: #{result.err}")
    end
  end

  # A finalizer of the program may run after the finalizer of spanprof. The program's finalizer
  # must not be able to start a session.
  def test_no_session_starts_during_the_exit
    result = child!(START + <<~'RUBY')
      burn 0.1
      Spanprof::Exit.call(0)
      p Spanprof.running?, Spanprof.start, Spanprof.unavailable_reason
    RUBY
    assert_equal ["false", "false", '"the process is exiting"'], result.out.lines(chomp: true)
    assert_burned(0.1, burnt)
  end

  # Another gem delays Thread.new, so spanprof creates its log thread while the process exits.
  def test_an_exit_during_thread_new_of_another_gem
    result = child!(<<~'RUBY', limit: 20)
      MADE = Queue.new
      Thread.singleton_class.prepend(Module.new do
        def new(...)
          (MADE << 1; sleep 0.3) if current.name == "spanprof"
          super
        end
      end)
      require "spanprof"
      Spanprof.start(log_level: :info)
      MADE.pop
    RUBY
    assert_match(/profiling "test"/, result.err)
  end

  def test_at_exit_handlers_and_ending_threads_are_profiled
    child!(START + <<~'RUBY')
      at_exit { at_exit { burn 0.1 }; burn 0.1 }
      thread = Thread.new { begin; Thread.stop; ensure; burn 0.1; end }
      Thread.pass until thread.stop?
      burn 0.1
    RUBY
    assert_burned(0.4, burnt, stretches: 2)
  end

  # @return [Float] seconds from the call that exits to the end of the process
  def seconds_to_end(start, code, env)
    result = child(start + <<~RUBY + code, env: env)
      6.times { Thread.new { loop { burn 0.1 } } }
      sleep 0.7
      # write_nonblock keeps the GVL. A call that releases the GVL would need 0.6 s to acquire it
      # again.
      $stdout.write_nonblock("\#{clock}\n")
    RUBY
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_match(/\A\d+\.\d+$/, result.out, result.err)
    ended - result.out.to_f
  end

  def assert_ends_in_time(code, env = {})
    without = seconds_to_end("", code, env)
    assert_operator seconds_to_end(START, code, env) - without, :<, END_S, "#{code}, #{without} s without"
  end

  def test_six_busy_threads_do_not_delay_the_exit
    ["", "exit", "exit!", "exec 'true'"].each do |code|
      assert_ends_in_time(code)
      assert_operator seconds(samples), :>, 0.04, code
      FileUtils.rm_rf(@profiles)
    end
  end

  def test_a_server_that_is_down_does_not_delay_the_exit
    ["exit", "exit!"].each { |code| assert_ends_in_time(code, { "PYROSCOPE_SERVER_ADDRESS" => no_server }) }
  end

  def test_a_frozen_server_does_not_delay_the_exit
    frozen_server do |address|
      ["exit", "exit!", "exec 'true'"].each { |code| assert_ends_in_time(code, { "PYROSCOPE_SERVER_ADDRESS" => address }) }
    end
  end

  def test_profiles_that_cannot_be_sent_are_spooled
    spool = { "PYROSCOPE_OUTPUT_DIRECTORY" => "", "PYROSCOPE_SPOOL_DIRECTORY" => "#{@directory}/spool" }
    away = spool.merge("PYROSCOPE_SERVER_ADDRESS" => no_server)
    child!(START + "burn 0.1", env: away)
    child!(START + "burn 0.1; exit!(true)", env: away)
    PushServer.run do |server|
      child!(START + "sleep 0.05 until Spanprof.stats[:profiles_sent] >= 2",
             env: spool.merge("PYROSCOPE_SERVER_ADDRESS" => server.address))
      assert_operator server.uploads.size, :>=, 2
    end
  end

  def test_the_profile_of_a_short_program_is_delivered
    PushServer.run do |server|
      child!(START + "burn 0.1", env: { "PYROSCOPE_SERVER_ADDRESS" => server.address })
      found = server.uploads.flat_map { |upload| upload.profile.samples }
      assert_in_delta 0.1, seconds(burnt(found)), noise_s(0.1)
    end
  end

  def test_profiling_continues_after_a_failed_exec
    result = child!(START + <<~'RUBY')
      3.times do
        exec "/nonexistent/program"
      rescue SystemCallError => e
        p e.class
        burn 0.1
      end
      p Spanprof.running?
    RUBY
    assert_equal %w[Errno::ENOENT] * 3 + %w[true], result.out.split
    assert_burned(0.3, burnt, stretches: 4)
  end

  def test_nothing_of_ours_outlives_exec
    result = child!(START + <<~'RUBY')
      burn 0.1
      exec "ruby", "-e", <<~'CODE'
        status = File.read("/proc/self/status")
        puts status[/^Threads:\s*(\d+)/, 1], status[/^SigBlk:\s*(\w+)/, 1], status[/^SigIgn:\s*(\w+)/, 1]
        puts File.read("/proc/self/timers").lines.size, Dir.children("/proc/self/fd").size
        200_000.times { Object.new }
      CODE
    RUBY
    control = child!(<<~'RUBY')
      exec "ruby", "-e", <<~'CODE'
        status = File.read("/proc/self/status")
        puts status[/^Threads:\s*(\d+)/, 1], status[/^SigBlk:\s*(\w+)/, 1], status[/^SigIgn:\s*(\w+)/, 1]
        puts File.read("/proc/self/timers").lines.size, Dir.children("/proc/self/fd").size
        200_000.times { Object.new }
      CODE
    RUBY
    assert_equal control.out, result.out
  end

  # Ways in which other gems wrap methods that spanprof replaces.
  WRAPS = {
    alias: <<~'RUBY',
      module Kernel
        alias_method :exec_without_another, :exec
        def exec(*words) = exec_without_another(*words)
        alias_method :exit_without_another!, :exit!
        def exit!(*status) = exit_without_another!(*status)
        private :exec, :exit!
      end
      class << Process
        alias_method :exit_without_another!, :exit!
        def exit!(*status) = exit_without_another!(*status)
      end
    RUBY
    prepend: <<~'RUBY'
      another = Module.new do
        def exec(*) = super
        def exit!(*) = super
      end
      [Kernel, Process.singleton_class].each { |owner| owner.prepend(another) }
    RUBY
  }.freeze

  def test_with_other_wrappers_of_exec_and_exit
    WRAPS.each do |kind, wrap|
      [START + wrap, wrap + START, wrap + START + wrap].each do |program|
        { "exec 'exit 10'" => 10, "exit! 4" => 4, "Process.exit!(5)" => 5 }.each do |ending, status|
          # these aliases call themselves endlessly even without spanprof
          next if kind == :alias && program.scan("module Kernel").size > 1

          FileUtils.rm_rf(@profiles)
          result = child("#{program}\nburn 0.1\n#{ending}")
          assert_equal status, result.status.exitstatus, "#{kind}, #{ending}: #{result.err}"
          assert_burned(0.1, burnt, message: "#{kind}, #{ending}")
        end
      end
    end
  end

  def test_exit_and_exec_stay_private
    result = child!(START + <<~'RUBY')
      %i[exit! exec].each { |name| p Object.new.respond_to?(name), Kernel.private_method_defined?(name) }
    RUBY
    assert_equal %w[false true] * 2, result.out.split
  end
end
