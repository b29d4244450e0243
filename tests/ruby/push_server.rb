# frozen_string_literal: true

require "socket"
require "stringio"
require "zlib"

require_relative "profile_reader"

# A server that receives profiles as Pyroscope does, on a thread of the test.
class PushServer
  # The labels of a series (Hash{String => String}) and its profile.
  Upload = Struct.new(:labels, :profile, :headers, keyword_init: true)

  # @yieldparam server [PushServer]
  def self.run
    server = new
    yield server
  ensure
    server&.close
  end

  # @return [Array<Upload>]
  attr_reader :uploads

  # @return [String]
  attr_reader :address

  # The value of the header Spanprof-Links that each answer gets.
  attr_writer :links

  def initialize
    @uploads = []
    @server = TCPServer.new("127.0.0.1", 0)
    @address = "http://127.0.0.1:#{@server.addr[1]}"
    @thread = Thread.new { loop { serve(@server.accept) } }
  end

  def close
    @thread.kill.join
    @server.close
  end

  private

  # Serves one connection until its client closes it.
  def serve(socket)
    Thread.new do
      while (request = socket.gets)
        headers = read_headers(socket)
        receive(request, headers, socket.read(headers["content-length"].to_i))
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/proto\r\n" \
                     "Spanprof-Links: #{@links}\r\n\r\n{}")
      end
    rescue Errno::ECONNRESET
      # The client has closed the connection.
    ensure
      socket.close
    end
  end

  def read_headers(socket)
    socket.each_line("\r\n", chomp: true).take_while { |line| !line.empty? }.to_h do |line|
      name, value = line.split(": ", 2)
      [name.downcase, value]
    end
  end

  # Field numbers: api/push/v1/push.proto of grafana/pyroscope.
  def receive(_request, headers, body)
    body = Zlib::GzipReader.new(StringIO.new(body)).read if body.start_with?("\x1f\x8b".b)
    fields(body, 1) do |series|
      labels = {}
      fields(series, 1) { |pair| labels.store(text(pair, 1), text(pair, 2)) }
      fields(series, 2) do |sample|
        fields(sample, 1) do |profile|
          @uploads << Upload.new(labels: labels, profile: ProfileReader.new(profile), headers: headers)
        end
      end
    end
  end

  def text(message, field)
    fields(message, field) { |value| return value.force_encoding(Encoding::UTF_8) }
    ""
  end

  # Yields each text or message in the field `wanted`. The requests have no fields of other types.
  def fields(bytes, wanted)
    io = StringIO.new(bytes.b)
    until io.eof?
      field = varint(io) >> 3
      value = io.read(varint(io))
      yield value if field == wanted
    end
  end

  def varint(io)
    value = shift = 0
    loop do
      byte = io.readbyte
      value |= (byte & 0x7f) << shift
      return value if byte < 0x80

      shift += 7
    end
  end
end
