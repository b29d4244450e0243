# frozen_string_literal: true

require "child"

# Forked children of a profiled process are profiled.
class ForkTest < ChildTest
  # Runs a parent process that burns 0.2 s. `code` forks its child, which burns 0.5 s.
  def forked(code)
    child!(<<~RUBY)
      require "spanprof"
      Spanprof.start
      def in_parent = burn(0.2)
      def in_child = burn(0.5)
      in_parent
      #{code}
    RUBY
  end

  # @return [Array<Float>] seconds of CPU time in the profiles of the parent and of the child
  def cpu_by_process
    by_pid = Dir["#{@profiles}/*.pb.gz"].group_by { |path| path[/-(\d+)-\d+\.pb/, 1] }.transform_values do |paths|
      seconds(burnt(paths.flat_map { |path| ProfileReader.new(File.binread(path)).samples }))
    end
    assert_equal 2, by_pid.size, by_pid.inspect
    by_pid.values.sort
  end

  def assert_both_profiled
    parent, child = cpu_by_process
    assert_in_delta 0.2, parent, noise_s(0.2)
    assert_in_delta 0.5, child, noise_s(0.5)
  end

  def test_fork_with_a_block
    forked("fork { in_child }; Process.wait")
    assert_both_profiled
  end

  def test_fork_without_a_block
    forked("if (pid = Process.fork) then Process.wait(pid) else in_child end")
    assert_both_profiled
  end

  def test_a_child_that_calls_exit!
    forked("fork { in_child; exit! }; Process.wait")
    assert_both_profiled
  end

  def test_a_child_that_calls_exec
    forked(%(fork { in_child; exec "true" }; Process.wait))
    assert_both_profiled
  end

  def test_popen_minus
    forked(%((io = IO.popen("-")) ? io.read : in_child))
    assert_both_profiled
  end

  def test_daemon
    forked(<<~'RUBY')
      reader, writer = IO.pipe
      if fork
        writer.close
        Process.wait
        reader.read
      else
        reader.close
        Process.daemon(true, true)
        in_child
        Spanprof.stop
        writer.close
        exit!
      end
    RUBY
    assert_both_profiled
  end

  # The daemon is made in a forked child. The parent waits for the end of the daemon by a pipe,
  # because no process can wait for a daemon.
  def test_samples_before_daemon_are_delivered
    child!(<<~'RUBY')
      require "spanprof"
      reader, writer = IO.pipe
      fork do
        Spanprof.start
        burn 0.2
        Process.daemon(true, true)
        burn 0.5
        Spanprof.stop
        exit!
      end
      writer.close
      Process.wait
      reader.read
    RUBY
    assert_both_profiled
  end

  # Tests a server that does not run and a server that never answers.
  def test_daemon_does_not_wait_for_a_server
    frozen_server do |frozen|
      [no_server, frozen].each do |address|
        result = child!(<<~'RUBY', env: { "PYROSCOPE_SERVER_ADDRESS" => address })
          require "spanprof"
          Spanprof.start(log_level: :off)
          burn 0.1
          reader, writer = IO.pipe
          fork { Process.daemon(true, true); writer << Spanprof.running?; exit! }
          writer.close
          Process.wait
          print reader.read
        RUBY
        assert_equal "true", result.out
      end
    end
  end

  def test_a_child_of_a_child_and_one_with_threads
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start
      fork do
        fork { Array.new(3) { Thread.new { burn 0.2 } }.each(&:join) }
        Process.wait
      end
      Process.wait
    RUBY
    assert_burned(0.6, burnt, stretches: 3)
  end

  def test_a_child_may_start_again_with_other_options
    result = child!(<<~'RUBY')
      require "pyroscope"
      Pyroscope.configure { |config| config.server_address = nil }
      2.times do
        fork do
          p Pyroscope.configure { |config| config.application_name = "worker" }
          burn 0.2
        end
        Process.wait
      end
      Pyroscope.stop
      fork { p Pyroscope.configure { |config| config.application_name = "later" }; burn 0.2 }
      Process.wait
    RUBY
    assert_equal %w[true true true], result.out.split
    names = Dir.children(@profiles).map { |name| name[/\A[a-z]+/] }
    assert_equal({ "worker" => 2, "later" => 1 }, names.tally.slice("worker", "later"))
  end

  def test_forks_during_starts_and_stops_of_other_threads
    result = child!(<<~'RUBY')
      require "spanprof"
      thread = Thread.new { loop { Spanprof.start(log_level: :off); Spanprof.flush; Spanprof.stop } }
      15.times do
        pid = fork { Spanprof.start(log_level: :off); exit!(0) }
        _, status = Process.wait2(pid)
        abort status.inspect unless status.success?
      end
      thread.kill.join
      puts "done"
    RUBY
    assert_equal "done\n", result.out, result.err
  end

  def test_a_fork_costs_an_unprofiled_child_nothing
    result = child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start
      Spanprof.stop
      fork { p Thread.list.size, Spanprof.running? }
      Process.wait
    RUBY
    assert_equal %w[1 false], result.out.split
  end
end
