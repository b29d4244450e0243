# frozen_string_literal: true

module Spanprof
  # A Rack application that answers `/debug/pprof/profile?seconds=N` as a Go
  # program does: with a profile of this process over the next N seconds, pprof in
  # gzip, with its spans. For `spanprof serve --scrape`, Grafana Alloy,
  # `go tool pprof` and others that fetch profiles.
  #
  # It works beside the session that runs, which is not disturbed, and without one,
  # for as long as somebody asks. It keeps a thread of the server busy meanwhile.
  #
  # Whoever reaches it sees names of functions, files and spans, and can have the
  # process profiled: mount it behind what guards the rest of your operations.
  #
  # @example In Rails' config/routes.rb
  #   mount Spanprof::RackApp => "/debug/pprof"
  # @example In config.ru
  #   map("/debug/pprof") { run Spanprof::RackApp }
  module RackApp
    # As Go: what is asked for without a number.
    SECONDS = 30
    SECONDS_MAX = 300
    PATHS = ["", "/", "/profile", "/debug/pprof/profile"].freeze
    private_constant :SECONDS, :SECONDS_MAX, :PATHS

    class << self
      # @param env [Hash] of Rack 2 or 3
      # @return [Array(Integer, Hash, Array<String>)]
      def call(env)
        return text(404, "there is no such profile here") unless PATHS.include?(env["PATH_INFO"].to_s)
        return text(405, "a profile is fetched by GET", "allow" => "GET") unless env["REQUEST_METHOD"] == "GET"

        seconds = seconds_of(env["QUERY_STRING"].to_s)
        return text(400, "seconds is a whole number from 1 to #{SECONDS_MAX}") unless seconds

        answer(record(seconds))
      rescue Error => e
        text(503, "no profile can be taken: #{e.message}")
      end

      private

      # @return [Integer, nil] nil: it is none
      def seconds_of(query)
        given = query.split("&").map { |pair| pair.split("=", 2) }.assoc("seconds")&.last.to_s
        return SECONDS if given.empty?

        Integer(given, 10).then { |number| number if number.between?(1, SECONDS_MAX) } if given.match?(/\A\d{1,9}\z/)
      end

      # @return [String] pprof in gzip
      def record(seconds)
        reason = LOAD_ERROR || ("a Ractor is not profiled, only the main one is" if Session.other_ractor?)
        raise Error, reason if reason

        recording = Native::Recording.begin(false, nil, nil, seconds * 1000)
        rest(seconds)
        profile, = recording.end
        profile
      ensure # if an exception was raised here
        recording&.discard
      end

      # Whoever wakes the thread does not make the profile shorter.
      def rest(seconds)
        until_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
        while (left = until_s - Process.clock_gettime(Process::CLOCK_MONOTONIC)).positive?
          sleep(left)
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
