# frozen_string_literal: true

module Spanprof
  # What a block spent CPU time on: what {Spanprof.profile} returns.
  class Profile
    # A function's CPU seconds: its own, and with what it called.
    FunctionRow = Struct.new(:name, :file, :self_s, :total_s)

    # The CPU seconds of the spans of one name: their own, and with the spans in
    # them; "(no span)" is what ran in none.
    SpanRow = Struct.new(:name, :spans, :self_s, :total_s)

    # A window longer than any block, and nobody to send it to, whatever the
    # environment says.
    OPTIONS = {
      upload_interval_ms: 3_600_000, server_address: "", spool_directory: "", flush_on_sigterm: false,
      log_level: :error, autoinstrument_rails: true
    }.freeze
    STOP_S = 10
    private_constant :OPTIONS, :STOP_S

    # @return [Object] what the block returned
    attr_reader :value

    # @return [String, nil] why nothing was profiled, in one sentence
    attr_reader :unavailable_reason

    # @param options [Hash] of {Spanprof.start}
    # @api private
    def initialize(**options)
      @options = { **OPTIONS, **options }
      @parts = []
    end

    # Runs the block in a session of its own.
    # @api private
    def take
      pid = Process.pid
      directory = start
      @value = yield if block_given?
    ensure
      Session.stop_alone(@options, STOP_S)
      pid == Process.pid ? collect(directory) : @unavailable_reason = "the block forked this process"
    end

    # @param rows [Integer] 0: all
    # @return [Array<FunctionRow>] the functions with the most CPU time of their own
    def top(rows = 10)
      json("functions", rows) { |row| FunctionRow.new(row["name"], row["file"], row["self"] / 1e9, row["total"] / 1e9) }
    end

    # @param rows [Integer] 0: all
    # @return [Array<SpanRow>] the names of spans with the most CPU time
    def spans(rows = 10)
      json("span_names", rows) { |row| SpanRow.new(row["name"], row["spans"], row["self"] / 1e9, row["total"] / 1e9) }
    end

    # Write the profile as gzip-compressed pprof, for `spanprof report`,
    # `go tool pprof` and others. A profile that is too large for one upload has
    # parts: the others become "name-2.pb.gz" and so on beside it.
    # @param path [String, Pathname] "name.pb.gz"
    # @return [Array<String>] the files that were written; none where nothing was profiled
    # @raise [SystemCallError] a file cannot be written
    def save(path)
      stem, suffix = path.to_s.match(/\A(.*?)((?:\.pb)?(?:\.gz)?)\z/m).captures
      @parts.each_with_index.map do |part, i|
        (i.zero? ? path.to_s : "#{stem}-#{i + 1}#{suffix}").tap { |name| File.binwrite(name, part) }
      end
    end

    # Write a page with a flame graph, search and the span names: one file, which
    # opens from disk without a network.
    # @param path [String, Pathname] "name.html"
    # @param title [String] its heading
    # @return [String] the path
    # @raise [Error] nothing was profiled, or this gem was built without a page
    # @raise [SystemCallError] the file cannot be written
    def html(path, title: default_title)
      File.binwrite(path, page(title, "--html", "-"))
      path.to_s
    end

    # Show this page in the browser: what BROWSER names, else xdg-open, wslview
    # or open.
    # @param title [String] its heading
    # @return [String] the temporary file that it is in, which stays
    # @raise [Error] nothing was profiled, no page or no browser is there
    def open(title: default_title)
      page(title, "--open").chomp
    end

    # @return [String] the tables of `spanprof report`, or why there are none
    def to_s
      unavailable_reason ? "not profiled: #{unavailable_reason}" : report("--top", "10").chomp
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{unavailable_reason || "#{top(0).sum(&:self_s).round(3)} s of CPU time"}>"
    end

    private

    # @return [String, nil] where the profile is written
    def start
      @unavailable_reason = Session::BESIDE
      return if Session.running?

      require "tmpdir"
      @options[:output_directory] = Dir.mktmpdir("spanprof-")
      @unavailable_reason = Session.start_alone(@options)
      @options[:output_directory]
    rescue SystemCallError, ArgumentError => e # of Dir.tmpdir
      @unavailable_reason = e.message
      nil
    end

    def collect(directory)
      return unless directory

      @parts = Dir["#{directory}/*-#{Process.pid}-*.pb.gz"].sort.map { |file| File.binread(file) }
      @unavailable_reason ||= "no CPU time was sampled" if @parts.empty?
      FileUtils.rm_rf(directory)
    end

    def json(table, rows, &row)
      return [] if unavailable_reason

      require "json"
      JSON.parse(report("--json", "--top", rows.to_s)).fetch(table).map(&row)
    end

    def default_title
      "CPU time of #{File.basename($PROGRAM_NAME)}"
    end

    def page(title, *options)
      raise Error, unavailable_reason if unavailable_reason

      report(*options, "--title", title)
    end

    def report(*options)
      Dir.mktmpdir("spanprof-") do |directory|
        @parts.each_with_index { |part, i| File.binwrite("#{directory}/#{i}.pb.gz", part) }
        status, printed, complaint = Native.command_output(["spanprof", "report", *options, directory])
        raise Error, complaint.strip unless status.zero?

        printed
      end
    end
  end
end
