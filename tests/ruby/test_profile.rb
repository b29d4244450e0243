# frozen_string_literal: true

require "child"
require "json"

# Spanprof.profile { … }
class ProfileTest < ChildTest
  # Spanprof.profile sends its profile nowhere, even if the environment names a destination.
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
      total_samples = functions.values.sum(&:self_samples)
      raise unless total_samples.between?(10, 300) && profile.spans.sum(&:self_samples) == total_samples
      raise unless functions["Object#burn"].total_samples.between?(10, total_samples)
      p functions["Object#burn"].total_s, File.basename(functions["Object#burn"].file), profile.top(1).size
      p profile.spans.to_h { |row| [row.name, [row.spans, row.total_s]] }
      p File.basename(profile.save("#{ENV["TMPDIR"]}/block.pb.gz")), profile
      puts profile
    RUBY
    value, reason, running, total, file, rows, spans, saved, inspected, *table = result.out.lines(chomp: true)
    assert_equal [":done", "nil", "false", '"program.rb"', "1", '"block.pb.gz"'], [value, reason, running, file, rows, saved]
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

  # The program in the variable BROWSER gets the path of the page, whose file is not deleted.
  def test_a_page_is_written_and_opened
    opened = "#{@directory}/opened"
    browser = "#{@directory}/browser"
    File.write(browser, "#!/bin/sh\nprintf %s \"$1\" > #{opened}\n", perm: 0o755)
    result = child!(<<~'RUBY', env: { "BROWSER" => browser })
      require "spanprof"
      profile = Spanprof.profile { burn 0.1 }
      puts profile.html("#{ENV["TMPDIR"]}/block.html", title: "</script>é"), profile.open
    RUBY
    return if result.err.include?("this build has no page: install npm")

    written, shown = result.out.lines(chomp: true)
    assert_equal ["#{@directory}/block.html", shown], [written, File.read(opened)]
    page = JSON.parse(File.read(written, encoding: "UTF-8")[%r{id="page-data">(.*?)</script>}m, 1])
    assert_equal "</script>é", page["title"]
    assert_includes page["now"]["tree"]["functions"]["name"], "Object#burn"
    assert_includes File.read(shown, encoding: "UTF-8"), '"title":"CPU time of program.rb"'
    File.delete(shown)
  end

  def test_an_empty_profile_has_no_page
    result = child!(<<~'RUBY')
      require "spanprof"
      profile = Spanprof.profile(sample_rate_hz: 0) { 1 }
      p profile.html("nowhere"), profile.open, profile.save("nowhere"), File.exist?("nowhere")
    RUBY
    assert_equal "nil\nnil\nnil\nfalse\n", result.out
    assert_equal "spanprof: the page of a profile could not be made: sample_rate_hz is 0, not within 1 to 1000\n" * 2, result.err
  end

  def test_without_profiling_the_block_runs_and_there_is_a_reason
    result = child!(<<~'RUBY')
      require "spanprof"
      def print_profile(profile)
        p [profile.value, profile.top, profile.spans, profile.unavailable_reason]
        puts profile
      end
      print_profile(Spanprof.profile(sample_rate_hz: 0) { 1 })
      print_profile(Spanprof.profile(sample_rate_hz: "x") { 2 })
      print_profile(Spanprof.profile { 3 })
      ENV["PYROSCOPE_AGENT_ENABLED"] = "false"
      print_profile(Spanprof.profile { 5 })
    RUBY
    lines = result.out.lines(chomp: true)
    reasons = ["sample_rate_hz is 0, not within 1 to 1000", "no implicit conversion from string",
               "no CPU time was sampled", "profiling is off: PYROSCOPE_AGENT_ENABLED is false"]
    assert_equal([1, 2, 3, 5].zip(reasons).flat_map { |value, reason| [[value, [], [], reason].inspect, "not profiled: #{reason}"] },
                 lines)
  end

  # Each request has its own profile, which has only the work of this request: work in the block,
  # and in fibers and threads that the block creates.
  MARKERS = <<~'RUBY'
    require "spanprof"
    COUNT = 40
    COUNT.times do |i|
      %w[marker fiber thread].each { |name| eval("def #{name}_#{i}; burn 0.05; end") }
    end
    def ran(profile)
      profile.top(0).map { |row| row.name.delete_prefix("Object#") }.grep(/\A(marker|fiber|thread)_\d/).sort
    end
    def request(i)
      profile = Spanprof.profile do
        send(:"marker_#{i}")
        Fiber.new { send(:"fiber_#{i}") }.resume
        Thread.new { send(:"thread_#{i}") }.join
        i
      end
      raise profile.to_s if profile.unavailable_reason
      raise "value" unless profile.value == i
      raise "#{i}: #{ran(profile)}" unless ran(profile) == %W[fiber_#{i} marker_#{i} thread_#{i}]
    end
    def requests
      Array.new(COUNT) { |i| Thread.new { Thread.current.report_on_exception = false; request(i) } }.each(&:join)
    end
  RUBY

  def test_concurrent_requests_have_their_own_cpu_time
    child!("#{MARKERS}requests\np Spanprof.running?")
  end

  def test_concurrent_requests_during_a_session
    result = child!(<<~RUBY)
      #{MARKERS}
      options = { server_address: "", spool_directory: "", output_directory: "", log_level: :error }
      Spanprof.start(**options)
      requests
      p Spanprof.running?, Spanprof.profile { nil }.note
      Spanprof.stop
    RUBY
    assert_equal %(true\n"at the session's 100 Hz, not at 1000 Hz"\n), result.out
    assert_empty result.err
  end

  def test_a_hundred_concurrent_and_nested_profiles
    result = child!(<<~'RUBY')
      require "spanprof"
      def outer = burn(0.1)
      def inner = burn(0.1)
      def ran(profile) = profile.top(0).map { |row| row.name.delete_prefix("Object#") } & %w[outer inner]
      profiles = []
      nest = lambda do |depth|
        depth.zero? ? inner : profiles << Spanprof.profile { nest.(depth - 1) }
      end
      nest.(100)
      p profiles.size, profiles.map { |profile| ran(profile) }.uniq
      within = nil
      around = Spanprof.profile do
        outer
        # If an enumerator's fiber runs a block, the block's work belongs to the profile of the
        # enumerator's caller.
        within = Spanprof.profile { Enumerator.new { |items| items << inner }.next }
      end
      p ran(around).sort, ran(within)
    RUBY
    assert_equal %([100, [["inner"]], ["inner", "outer"], ["inner"]]), "[#{result.out.lines(chomp: true).join(", ")}]"
  end

  def test_all_threads_includes_existing_threads
    result = child!(<<~'RUBY')
      require "spanprof"
      over = false
      def other = burn(0.01)
      thread = Thread.new { other until over }
      names = [false, true].map do |all|
        Spanprof.profile(all_threads: all) { burn 0.2 }.top(0).map(&:name).include?("Object#other")
      end
      over = true
      thread.join
      p names
    RUBY
    assert_equal "[false, true]\n", result.out
  end

  def test_blocks_that_raise_fork_or_start_and_stop_the_session
    result = child!(<<~'RUBY')
      require "spanprof"
      require "timeout"
      begin
        Spanprof.profile { burn 0.05; raise "oops" }
      rescue RuntimeError => e
        p e.message, Spanprof.running?
      end
      begin
        Timeout.timeout(0.1) { Spanprof.profile { sleep } }
      rescue Timeout::Error
        p :late
      end
      parent = $$
      profile = Spanprof.profile { burn 0.05; fork; burn 0.05 }
      exit!(profile.top.empty? && profile.to_s.include?("forked") ? 0 : 1) unless $$ == parent
      Process.wait
      p $?.success?, profile.top(0).map(&:total_s).max
      options = { server_address: "", spool_directory: "", output_directory: "", log_level: :off }
      profile = Spanprof.profile { burn 0.1; Spanprof.start(**options) }
      p Spanprof.running?, profile.note, profile.top.empty?
      profile = Spanprof.profile { burn 0.1; Spanprof.stop }
      p Spanprof.running?, profile.note[/ended early/], profile.top.empty?
    RUBY
    raised, running, late, child, total, *sessions = result.out.lines(chomp: true)
    assert_equal ['"oops"', "false", ":late", "true"], [raised, running, late, child]
    assert_in_delta 0.1, total.to_f, noise_s(0.1, hz: 1000)
    assert_equal ["true", '"ended early because the sampling was stopped"', "false", "false", '"ended early"', "false"], sessions
  end
end
