# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "open3"
require "rbconfig"
require "socket"
require "tmpdir"

require "noise"
require "profile_reader"

# A test that runs programs: each in a process of its own, with a limit of time,
# writing its profiles where the test reads them.
class ChildTest < Minitest::Test
  LIMIT_S = 120

  # Where this Ruby finds us, unless we are a gem it knows.
  LIBRARIES = $LOAD_PATH.select do |folder|
    File.file?("#{folder}/spanprof.rb") || File.file?("#{folder}/spanprof/spanprof_native.#{RbConfig::CONFIG["DLEXT"]}")
  end

  # The folder of spanprof.rb.
  LIBRARY = LIBRARIES.find { |folder| File.file?("#{folder}/spanprof.rb") } ||
            "#{Gem::Specification.find_by_name("spanprof").full_gem_path}/lib"

  # What a child can be asked to do.
  PRELUDE = <<~'RUBY'
    def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    # Calls the block for so much CPU time of this thread. Its clock is asked
    # seldom: who asks when a slice is over loses the processor just before the tick
    # that would have sampled it. What is left takes at least as long by the other
    # clock, which takes no system call.
    def repeat(seconds)
      end_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
      while (left_s = end_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
        until_s = clock + left_s
        yield while clock < until_s
      end
    end
    # The same without a block's frame, in a method that can be looked for.
    def burn(seconds)
      end_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
      while (left_s = end_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
        until_s = clock + left_s
        nil while clock < until_s
      end
    end
  RUBY

  # What a program said and how it ended.
  Result = Struct.new(:out, :err, :status, :seconds, keyword_init: true)

  def setup
    @directory = Dir.mktmpdir("spanprof-test")
    @profiles = "#{@directory}/profiles"
  end

  def teardown
    FileUtils.rm_rf(@directory)
  end

  # @return [Hash{String => String}] for a child that is to be profiled into @profiles
  def environment
    { "PYROSCOPE_APPLICATION_NAME" => "test", "PYROSCOPE_OUTPUT_DIRECTORY" => @profiles,
      "RUBYLIB" => LIBRARIES.join(":") }
  end

  # @param code [String] of a program that can do what PRELUDE has
  # @return [String] its path
  def program(name, code)
    "#{@directory}/#{name}.rb".tap { |path| File.write(path, PRELUDE + code) }
  end

  # @param code [String] of a program
  # @param ruby [Array<String>] options of the interpreter
  # @return [Result]
  def child(code, *ruby, env: {}, limit: LIMIT_S)
    run_command(RbConfig.ruby, *ruby, program("program", code), env: env, limit: limit)
  end

  # One that takes too long is killed, and its errors end with where it was.
  # @return [Result]
  def run_command(*command, env: {}, limit: LIMIT_S)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    Open3.popen3(environment.merge(env), *command, pgroup: true) do |input, *outputs, waiter|
      input.close
      out, err = outputs.map { |pipe| Thread.new { pipe.read } }
      stuck = "\nit took over #{limit} s:\n#{threads_of(waiter.pid)}" unless waiter.join(limit)
      Process.kill(:KILL, -waiter.pid) if stuck
      Result.new(out: out.value, err: err.value + stuck.to_s, status: waiter.value,
                 seconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
    end
  end

  # @return [String] the threads of a process: name, state, what the kernel does for it
  def threads_of(pid)
    Dir["/proc/#{pid}/task/*"].map do |task|
      state = File.read("#{task}/status")[/^State:\s*(.*)/, 1]
      "#{File.read("#{task}/comm").chomp}: #{state}, #{File.read("#{task}/syscall").chomp}\n"
    rescue SystemCallError
      ""
    end.join
  end

  # @return [Result] of a child that ended well
  def child!(code, *ruby, **options)
    child(code, *ruby, **options).tap { |result| assert result.status.success?, result.err }
  end

  # @return [Array<ProfileReader::Sample>] of the profiles of one process, or of all
  def samples(pid = nil)
    paths = Dir["#{@profiles}/*.pb.gz"]
    paths = paths.grep(/-#{pid}-\d+\.pb\.gz\z/) if pid
    paths.flat_map { |path| ProfileReader.new(File.binread(path)).samples }
  end

  # @return [Float] seconds of CPU time
  def seconds(samples)
    samples.sum(&:cpu_ns) / 1e9
  end

  # @return [Array<ProfileReader::Sample>] those in burn
  def burnt(found = samples) = found.select { |sample| sample.in?(/\bburn\z/) }

  # What was burned is in the samples.
  # @param stretches [Integer] in which it was: each may lose a part of a tick at
  #   its ends, and no more, as a thread's ticks come at even distances
  def assert_burned(true_s, found, message: nil, **noise)
    assert_in_delta true_s, seconds(found), noise_s(true_s, **noise), -> { [*message, *profiled].join("\n") }
  end

  # @return [Array<String>] what the profiles hold, by file: CPU time and stacks
  def profiled
    Dir["#{@profiles}/*.pb.gz"].sort.map do |path|
      found = ProfileReader.new(File.binread(path)).samples
      lines = found.sort_by(&:cpu_ns).last(10).reverse.map { |sample| "  #{sample.cpu_ns / 1_000_000} ms #{sample.stack.first(8).join(" < ")}" }
      ["#{File.basename(path)}: #{seconds(found)} s", *lines].join("\n")
    end
  end

  # @return [Float] s that the samples of it may differ from true_s
  def noise_s(true_s, hz: 100, stretches: 1)
    Noise.seconds(true_s, total_s: true_s, samples: (true_s * hz).round, threads: stretches) + Noise.ended_s(samples)
  end

  # A server that takes connections and never answers.
  # @yieldparam address [String]
  def frozen_server
    server = TCPServer.new("127.0.0.1", 0)
    yield "http://127.0.0.1:#{server.addr[1]}"
  ensure
    server&.close
  end

  # The address of a server that does not run.
  # @return [String]
  def no_server
    server = TCPServer.new("127.0.0.1", 0)
    "http://127.0.0.1:#{server.addr[1]}"
  ensure
    server.close
  end
end
