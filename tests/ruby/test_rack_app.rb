# frozen_string_literal: true

require "child"
require "zlib"

# Spanprof::RackApp
class RackAppTest < ChildTest
  # Calls the Rack application as a server does, and stores the profiles that it returns.
  CLIENT = <<~'RUBY'
    require "spanprof"
    def request(query = "", path = "/profile", method = "GET")
      status, headers, body = Spanprof::RackApp.call("REQUEST_METHOD" => method, "PATH_INFO" => path, "QUERY_STRING" => query)
      raise "no header of Rack 3: #{headers}" unless headers.frozen? || headers.keys.all? { |name| name == name.downcase }
      raise "length" unless headers["content-length"] == body.join.bytesize.to_s
      [status, headers["content-type"], body.join]
    end
    def save(answer, name = "profile")
      raise answer.inspect unless answer[0] == 200 && answer[1] == "application/octet-stream"
      File.binwrite("#{ENV["PYROSCOPE_OUTPUT_DIRECTORY"]}.#{name}", answer[2])
    end
    # Burns CPU time on a thread before and during a request for a profile. Returns the CPU time of
    # the thread.
    def burning(&work)
      over = false
      used = 0.0
      work ||= -> { burn 0.01 }
      worker = Thread.new do
        work.call until over
        used = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
      end
      save request("seconds=1")
      over = true
      worker.join
      used
    end
    Dir.mkdir(ENV["PYROSCOPE_OUTPUT_DIRECTORY"], 0o700)
  RUBY

  def samples(name = "profile")
    ProfileReader.new(File.binread("#{@profiles}.#{name}")).samples
  end

  # Assert that the profile has a part of the burned time. Its size depends on the machine, because
  # the thread also burns time before and after the profile.
  def assert_part(used)
    assert_operator seconds(burnt(samples)), :>, 0
    assert_operator seconds(burnt(samples)), :<=, used + noise_s(used, hz: 100)
  end

  def test_without_a_session_it_profiles_during_the_request
    result = child!(CLIENT + <<~'RUBY')
      p burning, Spanprof.running?, Thread.list.size, Dir.children("/proc/self/task").size < 4
    RUBY
    used, *rest = result.out.split
    assert_equal %w[false 1 true], rest
    assert_part used.to_f
    assert_empty Dir["#{@profiles}/*"]
    assert_empty result.err
  end

  def test_a_request_does_not_change_the_session_s_profiles
    result = child!(CLIENT + <<~'RUBY')
      Spanprof.start(upload_interval_ms: 3_600_000)
      burn 0.3
      p burning, Spanprof.running?, Spanprof.stats.values_at(:profiles_made)
      Spanprof.stop
      p Spanprof.stats.values_at(:profiles_made, :profiles_written), Spanprof.stats.values_at(:samples_pending)
    RUBY
    used, *rest = result.out.lines(chomp: true)
    assert_equal ["true", "[0]", "[1, 1]", "[0]"], rest
    assert_part used.to_f
    all = 0.3 + used.to_f
    whole = ProfileReader.new(File.binread(Dir["#{@profiles}/*.pb.gz"].first)).samples
    assert_in_delta all, seconds(burnt(whole)), noise_s(all, hz: 100) + 0.02
    assert_empty result.err
  end

  def test_samples_have_span_names
    child!(CLIENT + <<~'RUBY', env: { "OTEL_TRACES_EXPORTER" => "none" })
      require "opentelemetry/sdk"
      OpenTelemetry::SDK.configure
      OpenTelemetry.tracer_provider.add_span_processor Spanprof::SpanProcessor.new
      tracer = OpenTelemetry.tracer_provider.tracer("test")
      burning { tracer.in_span("order") { burn 0.02 } }
    RUBY
    # If the first span began before the recording, its name is unknown.
    named = burnt(samples).select { |sample| sample.labels["span_name"] == "order" }
    assert_operator 2 * seconds(named), :>, seconds(burnt(samples))
    assert(named.all? { |sample| sample.labels["profile_id"] })
  end

  def test_concurrent_requests
    result = child!(CLIENT + <<~'RUBY')
      over = false
      burner = Thread.new { burn 0.02 until over }
      Array.new(8) { |i| Thread.new { save(request("seconds=1"), i) } }.each(&:join)
      over = true
      burner.join
    RUBY
    assert_empty result.err
    8.times { |i| assert_operator seconds(burnt(samples(i))), :>, 0 }
  end

  def test_wrong_requests_get_a_message
    result = child!(CLIENT + <<~'RUBY')
      %w[seconds=0 seconds=301 seconds=1.5 seconds=x seconds=-1 seconds=99999999999999999999 seconds=%31].each do |query|
        puts request(query).join(" ")
      end
      puts request("", "/heap").join(" "), request("", "/profile", "POST").join(" ")
      ENV["PYROSCOPE_AGENT_ENABLED"] = "false"
      puts request("seconds=1").join(" ")
    RUBY
    lines = result.out.lines(chomp: true).reject(&:empty?)
    assert_equal ["400 text/plain; charset=utf-8 seconds must be a whole number from 1 to 300"], lines.first(7).uniq
    assert_match(/\A404 /, lines[7])
    assert_match(/\A405 /, lines[8])
    assert_match(/\A503 .*this process cannot be profiled: .*PYROSCOPE_AGENT_ENABLED/, lines[9])
  end

  def test_an_interrupted_request_stops_its_recording
    result = child!(CLIENT + <<~'RUBY')
      require "timeout"
      begin
        Timeout.timeout(0.5) { request("seconds=60") }
      rescue Timeout::Error
        puts "ended"
      end
      client = Thread.new { request("seconds=60") }
      sleep 0.3
      client.kill.join
      p Thread.list.reject { |thread| thread.name.to_s.match?(/timeout/i) }.size
      save request("seconds=1")
      begun = clock
      Thread.new { request("seconds=60") }
      sleep 0.3
      at_exit { puts clock - begun < 5 }
    RUBY
    assert_equal %w[ended 1 true], result.out.split
    assert_empty result.err
  end

  def test_a_child_forked_during_a_request_is_not_profiled
    result = child!(CLIENT + <<~'RUBY')
      # Counts only spanprof's threads, because since Ruby 3.3 a child also has Ruby's thread for
      # timers.
      ours = -> { Dir["/proc/self/task/*/comm"].count { |path| File.read(path).start_with?("spanprof") } }
      client = Thread.new { request("seconds=1") }
      sleep 0.3
      reader, writer = IO.pipe
      p ours.call.positive?
      pid = fork do
        burn 0.2
        writer.puts ours.call
        save(request("seconds=1"), "child")
      end
      Process.wait(pid)
      p $?.exitstatus, reader.gets.to_i
      save client.value
    RUBY
    assert_equal %w[true 0 0], result.out.split
  end

  def test_a_child_forked_during_a_request_can_start_profiling
    result = child!(CLIENT + <<~'RUBY')
      client = Thread.new { request("seconds=3") }
      Thread.pass until Thread.list.any? { |thread| thread.name == "spanprof" }
      from_thread = lambda do
        fork do
          Thread.new { Thread.new { 1 }.join }.join
          Spanprof.start(log_level: :off)
          named = Thread.list.map(&:name).include?("spanprof")
          Thread.new { burn 0.3 }.join
          burn 0.3
          exit!(named && Spanprof.stop)
        end
      end
      [from_thread.call, Thread.new(&from_thread).value].each do |pid|
        Process.wait(pid)
        puts "#{pid} #{$?.exitstatus}"
      end
      client.kill
    RUBY
    children = result.out.lines.map { |line| line.split.map(&:to_i) }
    assert_equal [0, 0], children.map(&:last), result.err
    children.each do |pid, _|
      found = Dir["#{@profiles}/*-#{pid}-*.pb.gz"].flat_map { |path| ProfileReader.new(File.binread(path)).samples }
      assert_operator seconds(burnt(found)), :>, 0.45
    end
  end

  def test_a_start_during_a_request
    result = child!(CLIENT + <<~'RUBY')
      client = Thread.new { request("seconds=3") }
      burn 0.02 until Thread.list.any? { |thread| thread.name == "spanprof" }
      burn 0.3
      p Spanprof.start(upload_interval_ms: 3_600_000), Spanprof.running?
      save client.value
      Spanprof.stop
    RUBY
    assert_equal %w[true true], result.out.split
    assert_operator seconds(burnt(samples)), :>, 0
  end
end
