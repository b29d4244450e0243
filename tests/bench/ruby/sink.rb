# frozen_string_literal: true

require "json"
require "net/http"
require_relative "bench"

# The stand-in server of tests/sink, in its own process.
class Sink
  PROGRAM = "#{Bench::ROOT}/tests/sink/sink.py"

  # @yieldparam sink [Sink]
  def self.run(port: 0)
    sink = new(port)
    yield sink
  ensure
    sink&.end
  end

  # @return [Integer] the port for uploads
  attr_reader :port

  # @param port [Integer] 0: any free port
  def initialize(port = 0)
    @out = IO.popen(["python3", PROGRAM, "--port", port.to_s])
    @port = @out.gets[/\d+/].to_i
    @control = @out.gets[/\d+/].to_i
  end

  # @return [String] the address for uploads
  def address = "http://127.0.0.1:#{port}"

  # Sets the behaviour of the server. The arguments are those of /control of sink.py,
  # such as mode and count.
  def control(**wanted)
    Net::HTTP.post(URI("http://127.0.0.1:#{@control}/control"), JSON.generate(wanted))
  end

  # @return [Hash] the stored profiles and the received requests
  def summary = JSON.parse(Net::HTTP.get(URI("http://127.0.0.1:#{@control}/summary")))

  # @return [Float] CPU seconds in all profiles that were delivered
  def seconds = summary.fetch("value") / 1e9

  def freeze! = Process.kill(:STOP, @out.pid)

  def thaw! = Process.kill(:CONT, @out.pid)

  def end
    Process.kill(:KILL, @out.pid)
    @out.close
  end

  # Returns a port on which no server listens.
  def self.free_port
    server = TCPServer.new("127.0.0.1", 0)
    server.addr[1]
  ensure
    server.close
  end
end
