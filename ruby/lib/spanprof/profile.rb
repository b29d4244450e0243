# frozen_string_literal: true

module Spanprof
  # The result of {Spanprof.profile}: the CPU time of a block by function and span.
  # No method raises because of the profiler.
  class Profile
    # The CPU seconds and the number of samples of one function: of the function itself (self), and
    # together with the functions that it called (total).
    FunctionRow = Struct.new(:name, :file, :self_s, :total_s, :self_samples, :total_samples)

    # The CPU seconds and the number of samples of all spans with one name: of the spans themselves
    # (self), and together with their child spans (total). The row with the name "(no span)" has the
    # time outside of spans.
    SpanRow = Struct.new(:name, :spans, :self_s, :total_s, :self_samples, :total_samples)

    # @return [Object] the result of the block
    attr_reader :value

    # @return [String, nil] the reason in one sentence, if nothing was profiled
    attr_reader :unavailable_reason

    # @return [String, nil] the difference, if the profile is not as requested: it has the session's
    #   sampling rate, or it ended early
    attr_reader :note

    # @api private
    def initialize
      @unavailable_reason = "the profiled block has not ended"
    end

    # @param arguments [Array] arguments of Native::Recording.begin
    # @api private
    def record(*arguments)
      recording = start(arguments)
      @value = yield if block_given?
    ensure
      finish(recording) if recording
    end

    # @param rows [Integer] maximum number of rows; 0 for all
    # @return [Array<FunctionRow>] the functions with the most CPU time of their own; empty without
    #   a profile
    def top(rows = 10)
      json("functions", rows) { |row| FunctionRow.new(row["name"], row["file"], *amounts(row)) }
    end

    # @param rows [Integer] maximum number of rows; 0 for all
    # @return [Array<SpanRow>] the names of spans with the most CPU time; empty without a profile
    def spans(rows = 10)
      json("span_names", rows) { |row| SpanRow.new(row["name"], row["spans"], *amounts(row)) }
    end

    # Write the profile as gzip-compressed pprof, for `spanprof report`, `go tool pprof` and other
    # tools.
    # @param path [String, Pathname] "name.pb.gz"
    # @return [String, nil] the path; nil if there is no profile, and no file is written
    # @raise [SystemCallError] the file cannot be written
    def save(path)
      return unless @pprof

      File.binwrite(path, @pprof)
      path.to_s
    end

    # Write a page with a flame graph, search and the span names: one file that needs no network.
    # @param path [String, Pathname] "name.html"
    # @param title [String] its heading
    # @return [String, nil] the path; nil if there is no page, for a reason that is logged
    # @raise [SystemCallError] the file cannot be written
    def html(path, title: default_title)
      page = page(title, "--html", "-")
      return unless page

      File.binwrite(path, page)
      path.to_s
    end

    # Show the page of {html} in the browser: $BROWSER, else xdg-open, wslview or open.
    # @param title [String] its heading
    # @return [String, nil] the path of the page's temporary file, which is not deleted; nil if
    #   there is no page or no browser, which is logged
    def open(title: default_title)
      page(title, "--open")&.chomp
    end

    # @return [String] the tables of `spanprof report`, or the reason if there are none
    def to_s
      return "not profiled: #{unavailable_reason}" if unavailable_reason

      [report("--top", "10").chomp, note && "spanprof: #{note}"].compact.join("\n")
    rescue StandardError => e
      "not shown: #{e.message}"
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{unavailable_reason || "#{top(0).sum(&:self_s).round(3)} s of CPU time"}>"
    end

    private

    # @return [Native::Recording, nil] nil if the recording could not start; the reason is stored
    def start(arguments)
      reason = LOAD_ERROR || ("only the main Ractor is profiled" if Session.other_ractor?)
      raise Error, reason if reason

      Session.uninterrupted { Native::Recording.begin(*arguments) }
    rescue StandardError, ScriptError => e
      @unavailable_reason = e.message
      nil
    end

    def finish(recording)
      @pprof, samples, @note = Session.uninterrupted { recording.end }
      @unavailable_reason = "the block forked this process: only its parent has the profile" unless @pprof
      @unavailable_reason = samples.zero? ? "no CPU time was sampled" : nil if @pprof
    rescue StandardError, ScriptError => e
      @unavailable_reason = e.message
    end

    def json(table, rows, &row)
      return [] if unavailable_reason

      require "json"
      JSON.parse(report("--json", "--top", rows.to_s)).fetch(table).map(&row)
    rescue StandardError => e
      Logging.log(:warn, "the table of a profile could not be made: #{e.message}")
      []
    end

    def amounts(row)
      [row["self"] / 1e9, row["total"] / 1e9, row["self_samples"], row["total_samples"]]
    end

    def default_title
      "CPU time of #{File.basename($PROGRAM_NAME)}"
    end

    def page(title, *options)
      raise Error, unavailable_reason if unavailable_reason

      report(*options, "--title", title)
    rescue StandardError => e
      Logging.log(:warn, "the page of a profile could not be made: #{e.message}")
      nil
    end

    def report(*options)
      require "tmpdir"
      Dir.mktmpdir("spanprof-") do |directory|
        File.binwrite("#{directory}/profile.pb.gz", @pprof)
        status, printed, complaint = Native.command_output(["spanprof", "report", *options, directory])
        raise Error, complaint.strip unless status.zero?

        printed
      end
    end
  end
end
