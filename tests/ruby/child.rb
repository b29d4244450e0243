# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "open3"
require "rbconfig"
require "socket"
require "tmpdir"

require "noise"
require "profile_reader"

# A test that runs programs. Each program runs in a separate process with a time limit, and writes
# its profiles to a folder from which the test reads them.
class ChildTest < Minitest::Test
  LIMIT_S = 120

  # Folders in which child processes find the gem if it is not installed.
  LIBRARIES = $LOAD_PATH.select do |folder|
    File.file?("#{folder}/spanprof.rb") || File.file?("#{folder}/spanprof/spanprof_native.#{RbConfig::CONFIG["DLEXT"]}")
  end

  # The folder that contains spanprof.rb.
  LIBRARY = LIBRARIES.find { |folder| File.file?("#{folder}/spanprof.rb") } ||
            "#{Gem::Specification.find_by_name("spanprof").full_gem_path}/lib"

  # Methods that the programs of tests may use.
  PRELUDE = <<~'RUBY'
    def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    # Calls the block until the thread has used this CPU time. Reads the CPU clock rarely: a thread
    # that reads it at the end of a time slice is descheduled just before the tick that would have
    # sampled it. Between two readings it waits for the remaining time on the monotonic clock, which
    # needs no system call. The remaining CPU time takes at least that long.
    def repeat(seconds)
      end_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
      while (left_s = end_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
        until_s = clock + left_s
        yield while clock < until_s
      end
    end
    # Uses this CPU time like repeat(), but without the frame of a block, in a method with a known
    # name.
    def burn(seconds)
      end_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
      while (left_s = end_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
        until_s = clock + left_s
        nil while clock < until_s
      end
    end
  RUBY

  # The output of a program, how it ended, and its duration in seconds.
  Result = Struct.new(:out, :err, :status, :seconds, keyword_init: true)

  def setup
    @directory = Dir.mktmpdir("spanprof-test")
    @profiles = "#{@directory}/profiles"
  end

  def teardown
    FileUtils.rm_rf(@directory)
  end

  # @return [Hash{String => String}] environment variables with which a child is profiled into
  #   @profiles
  def environment
    { "PYROSCOPE_APPLICATION_NAME" => "test", "PYROSCOPE_OUTPUT_DIRECTORY" => @profiles,
      "RUBYLIB" => LIBRARIES.join(":") }
  end

  # @param code [String] a program, which can use the methods of PRELUDE
  # @return [String] its path
  def program(name, code)
    "#{@directory}/#{name}.rb".tap { |path| File.write(path, PRELUDE + code) }
  end

  # @param code [String] a program
  # @param ruby [Array<String>] options of the interpreter
  # @return [Result]
  def child(code, *ruby, env: {}, limit: LIMIT_S)
    run_command(RbConfig.ruby, *ruby, program("program", code), env: env, limit: limit)
  end

  # Runs a command. A command that exceeds the limit is killed, and the states of its threads are
  # appended to its errors.
  # @return [Result]
  def run_command(*command, env: {}, limit: LIMIT_S)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    Open3.popen3(environment.merge(env), *command, pgroup: true) do |input, *outputs, waiter|
      input.close
      out, err = outputs.map { |pipe| Thread.new { pipe.read } }
      stuck = "\nit took longer than #{limit} s:\n#{threads_of(waiter.pid)}" unless waiter.join(limit)
      Process.kill(:KILL, -waiter.pid) if stuck
      Result.new(out: out.value, err: err.value + stuck.to_s, status: waiter.value,
                 seconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
    end
  end

  # @return [String] name, state and system call of each thread of a process
  def threads_of(pid)
    Dir["/proc/#{pid}/task/*"].map do |task|
      state = File.read("#{task}/status")[/^State:\s*(.*)/, 1]
      "#{File.read("#{task}/comm").chomp}: #{state}, #{File.read("#{task}/syscall").chomp}\n"
    rescue SystemCallError
      ""
    end.join
  end

  # @return [Result] the result of a child that must succeed
  def child!(code, *ruby, **options)
    child(code, *ruby, **options).tap { |result| assert result.status.success?, result.err }
  end

  # @return [Array<ProfileReader::Sample>] samples of one process, or of all processes
  def samples(pid = nil)
    paths = Dir["#{@profiles}/*.pb.gz"]
    paths = paths.grep(/-#{pid}-\d+\.pb\.gz\z/) if pid
    paths.flat_map { |path| ProfileReader.new(File.binread(path)).samples }
  end

  # @return [Float] seconds of CPU time that the samples have
  def seconds(samples)
    samples.sum(&:cpu_ns) / 1e9
  end

  # @return [Array<ProfileReader::Sample>] samples in the method burn
  def burnt(found = samples) = found.select { |sample| sample.in?(/\bburn\z/) }

  # Assert that the samples have the burned CPU time.
  # @param stretches [Integer] number of intervals in which the time was burned. At the ends of an
  #   interval a part of a tick may be lost, but not more, because the ticks of a thread are
  #   equidistant
  def assert_burned(true_s, found, message: nil, **noise)
    assert_in_delta true_s, seconds(found), noise_s(true_s, **noise), -> { [*message, *profiled].join("\n") }
  end

  # @return [Array<String>] CPU time and stacks of each profile
  def profiled
    Dir["#{@profiles}/*.pb.gz"].sort.map do |path|
      found = ProfileReader.new(File.binread(path)).samples
      lines = found.sort_by(&:cpu_ns).last(10).reverse.map { |sample| "  #{sample.cpu_ns / 1_000_000} ms #{sample.stack.first(8).join(" < ")}" }
      ["#{File.basename(path)}: #{seconds(found)} s", *lines].join("\n")
    end
  end

  # @return [Float] maximum difference between the CPU time of the samples and true_s, in s
  def noise_s(true_s, hz: 100, stretches: 1)
    Noise.seconds(true_s, total_s: true_s, samples: (true_s * hz).round, threads: stretches) + Noise.ended_s(samples)
  end

  # A server that accepts connections and never answers.
  # @yieldparam address [String]
  def frozen_server
    server = TCPServer.new("127.0.0.1", 0)
    yield "http://127.0.0.1:#{server.addr[1]}"
  ensure
    server&.close
  end

  # Returns the address of a server that does not run.
  # @return [String]
  def no_server
    server = TCPServer.new("127.0.0.1", 0)
    "http://127.0.0.1:#{server.addr[1]}"
  ensure
    server.close
  end
end
