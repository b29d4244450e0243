# frozen_string_literal: true

require "child"
require "json"

# Spanprof.profile { … }
class ProfileTest < ChildTest
  # It goes nowhere, whatever the environment says.
  def environment
    super.merge("PYROSCOPE_SERVER_ADDRESS" => no_server, "PYROSCOPE_SPOOL_DIRECTORY" => "#{@directory}/spool",
                "TMPDIR" => @directory)
  end

  def teardown
    refute_path_exists @profiles
    assert_empty Dir["#{@directory}/spanprof-*"]
    super
  end

  def test_functions_spans_and_files
    result = child!(<<~'RUBY', env: { "OTEL_TRACES_EXPORTER" => "none" })
      require "spanprof"
      require "opentelemetry/sdk"
      OpenTelemetry::SDK.configure
      OpenTelemetry.tracer_provider.add_span_processor Spanprof::SpanProcessor.new
      tracer = OpenTelemetry.tracer_provider.tracer("test")
      profile = Spanprof.profile do
        tracer.in_span("order") { burn 0.2 }
        burn 0.1
        :done
      end
      p profile.value, profile.unavailable_reason, Spanprof.running?
      functions = profile.top(0).to_h { |row| [row.name, row] }
      p functions["Object#burn"].total_s, File.basename(functions["Object#burn"].file), profile.top(1).size
      p profile.spans.to_h { |row| [row.name, [row.spans, row.total_s]] }
      p profile.save("#{ENV["TMPDIR"]}/block.pb.gz").map { |path| File.basename(path) }, profile
      puts profile
    RUBY
    value, reason, running, total, file, rows, spans, saved, inspected, *table = result.out.lines(chomp: true)
    assert_equal [":done", "nil", "false", '"program.rb"', "1", '["block.pb.gz"]'], [value, reason, running, file, rows, saved]
    assert_in_delta 0.3, total.to_f, noise_s(0.3, hz: 1000)
    spans = eval(spans)
    assert_equal ["(no span)", "order"], spans.keys.sort
    assert_equal 1, spans["order"].first
    assert_in_delta 0.2, spans["order"].last, noise_s(0.2, hz: 1000)
    assert_match(/\A"?#<Spanprof::Profile 0\.\d+ s of CPU time>/, inspected)
    assert_match(/top functions/, table.join("\n"))
    assert_match(/span name/, table.join("\n"))
    read = ProfileReader.new(File.binread("#{@directory}/block.pb.gz")).samples
    assert_in_delta 0.3, seconds(burnt(read)), noise_s(0.3, hz: 1000)
    assert_empty result.err
  end

  # What BROWSER names is given the file, which stays.
  def test_a_page_is_written_and_opened
    opened = "#{@directory}/opened"
    browser = "#{@directory}/browser"
    File.write(browser, "#!/bin/sh\nprintf %s \"$1\" > #{opened}\n", perm: 0o755)
    result = child!(<<~'RUBY', env: { "BROWSER" => browser })
      require "spanprof"
      profile = Spanprof.profile { burn 0.1 }
      begin
        puts profile.html("#{ENV["TMPDIR"]}/block.html", title: "</script>é"), profile.open
      rescue Spanprof::Error => e
        puts e.message
      end
    RUBY
    return assert_match(/this build has no page: install npm/, result.out) if result.out.include?("no page")

    written, shown = result.out.lines(chomp: true)
    assert_equal ["#{@directory}/block.html", shown], [written, File.read(opened)]
    page = JSON.parse(File.read(written, encoding: "UTF-8")[%r{id="page-data">(.*?)</script>}m, 1])
    assert_equal "</script>é", page["title"]
    assert_includes page["now"]["tree"]["functions"]["name"], "Object#burn"
    assert_includes File.read(shown, encoding: "UTF-8"), '"title":"CPU time of program.rb"'
    File.delete(shown)
  end

  def test_a_page_of_nothing_is_an_error
    result = child!(<<~'RUBY')
      require "spanprof"
      profile = Spanprof.profile(sample_rate_hz: 0) { 1 }
      [-> { profile.html("nowhere") }, -> { profile.open }].each do |call|
        call.call
      rescue Spanprof::Error => e
        puts e.message
      end
      p File.exist?("nowhere")
    RUBY
    assert_equal "sample_rate_hz is 0, not within 1 to 1000\n" * 2 + "false\n", result.out
  end

  def test_what_is_not_profiled_says_why_and_the_block_runs
    result = child!(<<~'RUBY')
      require "spanprof"
      def tell(profile)
        p [profile.value, profile.top, profile.spans, profile.save("nowhere")]
        puts profile
      end
      tell(Spanprof.profile(sample_rate_hz: 0) { 1 })
      tell(Spanprof.profile { 2 })
      outer = Spanprof.profile { burn 0.05; tell(Spanprof.profile { 3 }); 4 }
      p outer.value, outer.top.size.positive?, Spanprof.running?
      ENV["PYROSCOPE_AGENT_ENABLED"] = "false"
      tell(Spanprof.profile { 5 })
    RUBY
    assert_equal <<~LINES, result.out
      [1, [], [], []]
      not profiled: sample_rate_hz is 0, not within 1 to 1000
      [2, [], [], []]
      not profiled: no CPU time was sampled
      [3, [], [], []]
      not profiled: Spanprof.profile needs the process to itself, and it is profiled already: its profiles have this block, or call Spanprof.stop first
      4
      true
      false
      [5, [], [], []]
      not profiled: profiling is off: PYROSCOPE_AGENT_ENABLED is false
    LINES
  end

  def test_blocks_that_raise_fork_or_take_the_session_over
    result = child!(<<~'RUBY')
      require "spanprof"
      begin
        Spanprof.profile { burn 0.05; raise "oops" }
      rescue RuntimeError => e
        p e.message, Spanprof.running?
      end
      parent = $$
      profile = Spanprof.profile { burn 0.05; fork; burn 0.05 }
      exit!(profile.top.empty? ? 0 : 1) unless $$ == parent
      Process.wait
      p $?.success?, profile.top(0).map(&:total_s).max
      options = { server_address: "", spool_directory: "", output_directory: "", log_level: :off }
      Spanprof.profile { burn 0.05; Spanprof.start(**options) }
      p Spanprof.running?
    RUBY
    raised, running, child, total, other = result.out.lines(chomp: true)
    assert_equal ['"oops"', "false", "true", "true"], [raised, running, child, other]
    assert_in_delta 0.1, total.to_f, noise_s(0.1, hz: 1000)
  end
end
