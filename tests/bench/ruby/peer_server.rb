# frozen_string_literal: true

require "open3"
require_relative "bench"
require_relative "../../ruby/push_server"

# Receives the uploads of the alternatives, in a process that is not measured: requests
# to Pyroscope's Push API, and uploads to Datadog's agent, which are multipart forms
# with a profile compressed by zstd.
class PeerServer < PushServer
  # Waits until a profile has arrived that includes the time `end_ns`.
  # @param end_ns [Integer] Unix time
  def wait_until(end_ns, limit_s: 30)
    end_s = Bench.clock + limit_s
    until uploads.any? { |upload| upload.profile.time_ns + upload.profile.duration_ns >= end_ns }
      raise "the last profile has not arrived" if Bench.clock > end_s

      sleep 0.05
    end
  end

  private

  def take(request, headers, body)
    case request
    when /\APOST \S+PusherService/ then super
    when %r{\APOST /profiling/} then take_form(headers, body)
    end
  end

  def take_form(headers, body)
    parts = body.split("--#{headers["content-type"][/boundary=(\S+)/, 1]}")
    part = parts.find { |text| text.start_with?("\r\nContent-Disposition: form-data; name=\"profile.pprof\"".b) }
    packed = part.split("\r\n\r\n".b, 2).last.delete_suffix("\r\n".b)
    profile, status = Open3.capture2("zstd", "-dcq", stdin_data: packed, binmode: true)
    raise "zstd ended with #{status}" unless status.success?

    uploads << Upload.new(labels: {}, profile: ProfileReader.new(profile, value: "cpu-time"), headers: headers)
  end
end
