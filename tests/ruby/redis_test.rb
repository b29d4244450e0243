# frozen_string_literal: true

require "child"

# A test that needs Redis.
class RedisTest < ChildTest
  SERVER = ENV.fetch("PATH").split(":").map { |folder| "#{folder}/redis-server" }.find { |path| File.executable?(path) }

  # @yieldparam url [String] URL of a new server
  def redis
    skip("redis-server is not installed") unless SERVER
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    pid = spawn(SERVER, "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--dir", @directory, out: File::NULL)
    begin
      TCPSocket.new("127.0.0.1", port).close
    rescue Errno::ECONNREFUSED
      retry
    end
    yield "redis://127.0.0.1:#{port}/0"
  ensure
    if pid
      Process.kill("KILL", pid)
      Process.wait(pid)
    end
  end
end
