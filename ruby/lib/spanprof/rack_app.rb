# frozen_string_literal: true

module Spanprof
  # A Rack application that answers `/debug/pprof/profile?seconds=N` as a Go program does: with a
  # profile of this process over the next N seconds, as gzip-compressed pprof with its spans. It is for
  # `spanprof serve --scrape`, Grafana Alloy, `go tool pprof` and other tools that fetch profiles.
  #
  # It does not disturb a running session. Without a session, it profiles for the duration of the
  # request. Each request occupies a thread of the server.
  #
  # Clients see the names of functions, files and spans, and can start profiling. Mount it with the
  # same access control as your other operational endpoints.
  #
  # @example In Rails' config/routes.rb
  #   mount Spanprof::RackApp => "/debug/pprof"
  # @example In config.ru
  #   map("/debug/pprof") { run Spanprof::RackApp }
  module RackApp
    # The default number of seconds, the same as in Go.
    SECONDS = 30
    SECONDS_MAX = 300
    PATHS = ["", "/", "/profile", "/debug/pprof/profile"].freeze
    private_constant :SECONDS, :SECONDS_MAX, :PATHS

    class << self
      # @param env [Hash] environment of Rack 2 or 3
      # @return [Array(Integer, Hash, Array<String>)]
      def call(env)
        return text(404, "there is no profile at this path") unless PATHS.include?(env["PATH_INFO"].to_s)
        return text(405, "only GET is allowed", "allow" => "GET") unless env["REQUEST_METHOD"] == "GET"

        seconds = seconds_of(env["QUERY_STRING"].to_s)
        return text(400, "seconds must be a whole number from 1 to #{SECONDS_MAX}") unless seconds

        answer(record(seconds))
      rescue Error => e
        text(503, "this process cannot be profiled: #{e.message}")
      end

      private

      # @return [Integer, nil] the number of seconds; nil if the value in the query is invalid
      def seconds_of(query)
        given = query.split("&").map { |pair| pair.split("=", 2) }.assoc("seconds")&.last.to_s
        return SECONDS if given.empty?

        Integer(given, 10).then { |number| number if number.between?(1, SECONDS_MAX) } if given.match?(/\A\d{1,9}\z/)
      end

      # @return [String] gzip-compressed pprof
      def record(seconds)
        reason = LOAD_ERROR || ("only the main Ractor is profiled" if Session.other_ractor?)
        raise Error, reason if reason

        recording = Native::Recording.begin(false, nil, nil, seconds * 1000)
        sleep_for(seconds)
        profile, = recording.end
        profile
      ensure # does something only if the code above raised an exception
        recording&.discard
      end

      # Sleeps for the whole time, even if other code wakes the thread.
      def sleep_for(seconds)
        until_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
        while (remaining_s = until_s - Process.clock_gettime(Process::CLOCK_MONOTONIC)).positive?
          sleep(remaining_s)
        end
      end

      def answer(profile)
        [200, { "content-type" => "application/octet-stream", "content-length" => profile.bytesize.to_s,
                "content-disposition" => 'attachment; filename="profile"', "x-content-type-options" => "nosniff",
                "cache-control" => "no-store" }, [profile]]
      end

      def text(status, sentence, headers = {})
        body = "#{sentence}\n"
        [status, { "content-type" => "text/plain; charset=utf-8", "content-length" => body.bytesize.to_s,
                   "x-content-type-options" => "nosniff", **headers }, [body]]
      end
    end
  end
end
