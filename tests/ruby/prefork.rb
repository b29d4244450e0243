# frozen_string_literal: true

require "net/http"

require "child"

# Tests of servers that load the application once and then fork workers.
class PreforkTest < ChildTest
  # An application whose requests burn CPU time. An answer has the process id of the worker and
  # whether the worker is profiled.
  def rackup(start)
    <<~RUBY
      #{PRELUDE}
      #{start}
      run(lambda do |_env|
        burn 0.05
        [200, { "content-type" => "text/plain" }, ["\#{$$} \#{Spanprof.running?}"]]
      end)
    RUBY
  end

  AGAIN = "Pyroscope.configure { |config| config.server_address = nil }"
  START = %(require "pyroscope"\n#{AGAIN})

  # Runs a server while the block makes requests, and stops it by `signal`.
  # @return [String] its output
  def serve(*command, signal: "TERM", env: {})
    log = "#{@directory}/log"
    pid = spawn(environment.merge(env), *command, out: log, err: log, chdir: @directory)
    yield
    Process.kill(signal, pid)
    Process.wait(pid)
    File.read(log)
  rescue StandardError
    Process.kill("KILL", pid)
    raise $!.class, "#{$!.message}\n#{File.read(log)}"
  end

  def free_port
    TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
  end

  # Makes requests until each of `workers` workers has answered at least `least` of them.
  # @return [Hash{String => Float}] seconds that each worker burned
  def requests(port, workers: 2, least: 6)
    burnt = Hash.new(0.0)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
    until burnt.size == workers && burnt.values.all? { |seconds| seconds >= least * 0.05 }
      Array.new(4) { Thread.new { get(port, deadline) } }.map(&:value).each do |body|
        raise "served only by #{burnt}" unless body

        pid, running = body.split
        assert_equal "true", running
        burnt[pid] += 0.05
      end
    end
    burnt
  end

  # @return [String, nil] the answer; nil if there was no answer before the deadline
  def get(port, deadline)
    return if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

    Net::HTTP.get(URI("http://127.0.0.1:#{port}/"))
  rescue Errno::ECONNREFUSED, Errno::ECONNRESET
    sleep 0.05
    retry
  end

  # Assert that the profiles of each worker have the time that its requests burned.
  def assert_profiled(burnt)
    burnt.each do |pid, seconds|
      inside = samples(pid).select { |sample| sample.in?(/\bburn\z/) }
      assert_in_delta seconds, seconds(inside), noise_s(seconds, stretches: 4), "worker #{pid}"
    end
  end
end
