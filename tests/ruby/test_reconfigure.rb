# frozen_string_literal: true

require "child"

# A start while a session runs. If the start is refused, the session does not change.
class ReconfigureTest < ChildTest
  # Twenty kinds of options that the gem or the core refuses.
  REFUSED = <<~'RUBY'
    REFUSED = [
      { application_name: "" }, { application_name: "a\nb" }, { application_name: 1 }, { labels: "a" },
      { labels: { "a b" => 1 } }, { sample_rate_hz: 0 }, { sample_rate_hz: 1 << 70 }, { signal_number: 9 },
      { native_frames: "yes" }, { server_address: "localhost:4040" }, { basic_auth_user: "u" },
      { server_address: "http://h", auth_token: "t", basic_auth_user: "u", basic_auth_password: "p" },
      { http_headers: "no colon" }, { ca_bundle: "/nowhere/ca.pem" }, { client_key: "/proc/self/status" },
      { upload_protocol: "pigeon" }, { upload_interval_ms: 1 }, { queue_bytes: 1 },
      { output_directory: "/dev/null/x" }, { log_level: :loud }, { spool_directory: "/nowhere/spool" }, { span_names_max: -1 }
    ].freeze
  RUBY

  def test_refused_options_under_load_lose_no_sample
    result = child!(<<~RUBY)
      require "spanprof"
      #{REFUSED}
      abort "not started" unless Spanprof.start(upload_interval_ms: 600_000, labels: { of: "first" })
      done = false
      load = Thread.new { burn 0.01 until done }
      REFUSED.each do |options|
        p [Spanprof.start(**options), Spanprof.running?, Spanprof.unavailable_reason]
        burn 0.02
      end
      ENV["PYROSCOPE_AGENT_ENABLED"] = "false"
      p [Spanprof.start(sample_rate_hz: 50), Spanprof.running?, Spanprof.unavailable_reason]
      done = true
      load.join
      Spanprof.stop(timeout: 20)
      stats = Spanprof.stats
      puts stats[:samples_taken], stats[:samples_exported], stats.sum { |name, count| name.start_with?("samples_dropped") ? count : 0 }
    RUBY
    *answers, taken, exported, dropped = result.out.lines(chomp: true)
    assert_equal ["[false, true, nil]"] * 23, answers
    assert_equal taken, exported
    assert_equal "0", dropped
    assert_operator taken.to_i, :>, 20
    assert_equal 1, Dir["#{@profiles}/*.pb.gz"].size, "the session was replaced meanwhile"
    assert_equal 22, result.err.lines.grep(/\Aspanprof: profiling continues as before: /).size, result.err
  end

  def test_a_start_that_fails_late_restores_the_former_session
    result = child!(<<~'RUBY')
      require "spanprof"
      p Spanprof.start(labels: { of: "first" })
      burn 0.1
      # The directory can be created by its relative path, but its absolute path is too long.
      top = File.dirname(ENV["PYROSCOPE_OUTPUT_DIRECTORY"]) + "/deep"
      Dir.mkdir(top)
      Dir.chdir(top)
      22.times { Dir.mkdir("d" * 199) && Dir.chdir("d" * 199) }
      p Spanprof.start(output_directory: "out", labels: { of: "second" }), Spanprof.running?
      burn 0.1
      p Spanprof.unavailable_reason
      Spanprof.stop
      Dir.chdir("/")
      system("rm", "-rf", top)
    RUBY
    assert_equal %w[true false true nil], result.out.split
    assert_equal "spanprof: profiling continues as before: output_directory out cannot be used: File name too long\n",
                 result.err
    assert_burned 0.2, samples
  end

  def test_a_refusal_is_logged_to_the_new_logger_and_the_former_one_stays
    result = child!(<<~'RUBY')
      require "logger"
      require "spanprof"
      former, other = Array.new(2) { Logger.new($stdout, formatter: proc { |_, _, _, text| "#{text}\n" }) }
      former.formatter = proc { |_, _, _, text| "former #{text}\n" }
      p Spanprof.start(logger: former)
      p Spanprof.start(logger: other, sample_rate_hz: 0)
      Spanprof::Logging.log(:warn, "here")
    RUBY
    assert_includes result.out, "\nspanprof: profiling continues as before: sample_rate_hz is 0"
    assert_includes result.out, "\nformer spanprof: here\n"
  end
end
