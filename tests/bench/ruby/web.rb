# frozen_string_literal: true

require_relative "bench"
require "net/http"
require "socket"

# Runs a web server in its own process, and sends it requests on loopback.
module Web
  class << self
    # Runs the server under load for `seconds`, and stops it.
    # @param directory [String] BENCH_DIRECTORY of the server, also for its log
    # @param paths [Array<String>] paths that are requested one after the other, repeatedly
    # @param name [String] name of a gem and of its executable, which listens on BENCH_PORT
    # @param arguments [Array<String>] arguments of the executable
    # @return [Integer] the number of requests that were answered with 200
    def serve(directory, seconds, paths, name, *arguments)
      port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
      pid = spawn({ "BENCH_DIRECTORY" => directory, "BENCH_PORT" => port.to_s }, RbConfig.ruby, Gem.bin_path(name, name),
                  *arguments, %i[out err] => "#{directory}/log")
      ready(port, pid, directory)
      visit(port, seconds, paths)
    ensure
      stop(pid) if pid
    end

    private

    def ready(port, pid, directory)
      300.times do
        return TCPSocket.new("127.0.0.1", port).close
      rescue SystemCallError
        raise File.read("#{directory}/log") if Process.wait(pid, Process::WNOHANG)

        sleep 0.1
      end
      raise "no server within 30 s"
    end

    def visit(port, seconds, paths)
      end_s = Bench.clock + seconds
      Array.new(4) { |client| Thread.new { visitor(port, end_s, paths.rotate(client)) } }.sum(&:value)
    end

    def visitor(port, end_s, paths)
      answered = 0
      Net::HTTP.start("127.0.0.1", port, read_timeout: 60) do |http|
        while Bench.clock < end_s
          code = http.get(paths[answered % paths.size]).code
          raise "answered #{code}" unless code == "200"

          answered += 1
        end
      end
      answered
    end

    # A cluster of Puma sometimes does not exit, with or without a profiler.
    def stop(pid)
      Process.kill(:TERM, pid)
      100.times { Process.wait(pid, Process::WNOHANG) ? return : sleep(0.1) }
      Bench.say "a server did not end in 10 s"
      Process.kill(:KILL, pid)
      Process.wait(pid)
    rescue Errno::ECHILD, Errno::ESRCH
      nil
    end
  end
end
