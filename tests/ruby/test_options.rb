# frozen_string_literal: true

require "child"
require "push_server"

# Options of the Ruby methods, and the messages about wrong options.
class OptionsTest < ChildTest
  # Options that Spanprof.start refuses, and the message.
  REFUSED = {
    %(application_name: "") => "application_name is empty",
    %(application_name: "caf\\xE9") => "application_name is not valid UTF-8",
    %(application_name: "a\\0b") => "application_name contains a NUL byte",
    %(application_name: "a\\nb") => "application_name has a control character at byte 2",
    %(application_name: 1) => "application_name must be a String, not a value of class Integer",
    %(server_address: "http://[::bad") => /\Aserver_address /,
    %(server_address: "http://") => /\Aserver_address /,
    %(server_address: "localhost:4040") => /\Aserver_address /,
    %(server_address: "ftp://localhost") => /\Aserver_address /,
    %(sample_rate_hz: 0) => "sample_rate_hz is 0, not within 1 to 1000",
    %(sample_rate_hz: -1) => "sample_rate_hz is -1, not within 1 to 1000",
    %(sample_rate_hz: 5000) => "sample_rate_hz is 5000, not within 1 to 1000",
    %(sample_rate_hz: "100") => "sample_rate_hz must be an Integer, not a value of class String",
    %(sample_rate_hz: 99.5) => "sample_rate_hz must be an Integer, not a value of class Float",
    %(sample_rate_hz: 1 << 70) => "sample_rate_hz is out of range",
    %(report_pid: "yes") => "report_pid must be true or false, not a value of class String",
    %(native_frames: true) => "native_frames must be none, libraries or all, not a value of class TrueClass",
    %(native_frames: :some) => 'native_frames is "some", not none, libraries or all',
    %(labels: { "a b" => 1 }) => 'labels has the label name "a b", which is not [A-Za-z_][A-Za-z0-9_.]*',
    %(labels: { a: "\\xFF" }) => 'labels has a value that is not UTF-8 for label "a"',
    %(labels: { a: "x\\0y" }) => "labels contains a NUL byte",
    %(labels: "a") => /\Alabels /,
    %(labels: 1) => "labels must be a Hash or a String, not a value of class Integer",
    %(http_headers: { "X-A" => "b\\nc" }) => /\Ahttp_headers /,
    %(http_headers: { "X-A" => "\\xFF" }) => /\Ahttp_headers /,
    %(log_level: :loud) => 'log_level is "loud", not debug, info, warn, error or off',
    %(upload_protocol: "carrier pigeon") => /\Aupload_protocol /,
    %(output_directory: "/dev/null/x") => /output_directory/,
    %("report_pid" => 1) => "report_pid must be true or false, not a value of class Integer",
    %(autoinstrument_rails: "no") => "autoinstrument_rails must be true or false, not a value of class String",
    %(output_directory: Struct.new(:to_path).new("a\\0b")) => "output_directory contains a NUL byte",
    %(server_address: URI("ftp://localhost")) => /\Aserver_address /,
    %(logger: $stdout) => "logger has none of the methods debug, info, warn and error: it is of class IO",
    %(labels: { Object.new.tap { |o| def o.to_s = raise("boo") } => 1 }) => "boo"
  }.freeze

  def test_each_wrong_value_is_refused_with_a_message
    calls = REFUSED.keys.map { |options| "p [Spanprof.start(#{options}), Spanprof.unavailable_reason]" }
    result = child!(%(require "spanprof"\nrequire "uri"\n#{calls.join("\n")}\np Spanprof.running?))
    *answers, running = result.out.lines(chomp: true)
    assert_equal "false", running
    assert_equal REFUSED.size, answers.size
    REFUSED.zip(answers) do |(options, sentence), answer|
      started, reason = eval(answer)
      assert_equal false, started, options
      assert_operator sentence, :===, reason, "#{options}: #{reason}"
    end
    assert_equal REFUSED.size, result.err.lines.grep(/\Aspanprof: not profiling: /).size, result.err
  end

  # Unknown options, and the message of the ArgumentError.
  UNKNOWN = {
    %(rate: 100) => 'there is no option "rate"',
    %(applicaton_name: "shop") => 'there is no option "applicaton_name"; did you mean application_name?',
    %(app_name: "shop") => 'there is no option "app_name"; did you mean application_name?',
    %("sample_rate" => 100) => 'there is no option "sample_rate"; did you mean sample_rate_hz?',
    %(output: "out") => 'there is no option "output"; did you mean output_directory?',
    %(autoinstrument: true) => 'there is no option "autoinstrument"; did you mean autoinstrument_rails?'
  }.freeze

  def test_an_unknown_name_raises_with_the_most_similar_name
    calls = UNKNOWN.keys.map { |options| "begin; Spanprof.start(#{options}); rescue ArgumentError => e; puts e.message; end" }
    result = child!(%(require "spanprof"\n#{calls.join("\n")}\np Spanprof.running?))
    assert_equal [*UNKNOWN.values, "false"], result.out.lines(chomp: true)
  end

  def test_a_block_sets_options_and_starts
    result = child!(<<~'RUBY')
      require "spanprof"
      p(Spanprof.configure { |config| config.sample_rate_hz = 0 })
      puts Spanprof.unavailable_reason
      begin
        Spanprof.configure { |config| config.sample_rate = 50 }
      rescue NoMethodError => e
        puts e.message
      end
      p Spanprof.running?
      started = Spanprof.configure do |config|
        config.application_name = "block"
        config.auth_token = "secret"
        config.labels = { region: "eu" }
        config.autoinstrument_rails = nil
        p config, config.labels
      end
      p started
      burn 0.1
      Spanprof.stop
    RUBY
    refused, reason, unknown, *rest = result.out.lines(chomp: true)
    assert_equal ["false", "sample_rate_hz is 0, not within 1 to 1000"], [refused, reason]
    assert_match(/\Aundefined method `sample_rate='/, unknown.tr("'", "`").sub("=`", "='"))
    rest.shift until rest.first == "false" # did_you_mean
    assert_equal ["false", "#<Spanprof::Configuration>", { region: "eu" }.inspect, "true"], rest
    assert_equal 1, Dir["#{@profiles}/block-*"].size
  end

  # Options that are accepted, and their effect on the profile.
  ACCEPTED = {
    %(labels: { a: "b,c=d e", "f" => :g, h: 1 }) => { "a" => "b,c=d e", "f" => "g", "h" => "1" },
    %(labels: "a=b,c=d") => { "a" => "b", "c" => "d" },
    %(labels: { a: "caf\\xE9".dup.force_encoding("ISO-8859-1") }) => { "a" => "café" },
    %(labels: { a: "é".encode("UTF-16LE") }) => { "a" => "é" },
    %(labels: {}, log_level: :error, http_headers: { "X-A": "b, \\"c\\"" }) => { "header" => 'b, "c"' },
    %(sample_rate_hz: 250, upload_interval_ms: 60_000, native_frames: :none) => { "service_name" => "test" },
    %(application_name: :symbol) => { "service_name" => "symbol" },
    %(report_pid: true, log_level: "Trace") => { "pid" => :pid },
    %(proxy: URI(""), ca_bundle: Pathname("/etc/ssl/certs/ca-certificates.crt")) => { "service_name" => "test" }
  }.freeze

  def test_accepted_types_of_values
    # Samples of a thread that is just being created, with all signals blocked, are dropped and do
    # not count.
    kept = "Spanprof.stats.values_at(:samples_pending, :samples_exported).sum.positive?"
    calls = ACCEPTED.keys.map do |options|
      "abort #{options.inspect} unless Spanprof.start(#{options})\nburn 0.02 until #{kept}\nSpanprof.stop"
    end
    PushServer.run do |server|
      result = child!(%(require "spanprof"\nrequire "pathname"\nrequire "uri"\n#{calls.join("\n")}\nputs $$),
                      env: { "PYROSCOPE_SERVER_ADDRESS" => server.address })
      uploads = server.uploads.sort_by { |upload| upload.profile.time_ns }
      assert_equal ACCEPTED.size, uploads.size
      ACCEPTED.each_value.zip(uploads) do |labels, upload|
        sample = upload.profile.samples.first.labels.transform_values(&:to_s)
        seen = { "header" => upload.headers["x-a"], "pid" => sample["pid"] }.merge(upload.labels)
        labels.each { |name, value| assert_equal value == :pid ? result.out.chomp : value, seen[name] }
      end
    end
  end

  def test_texts_stay_alive_during_a_start
    PushServer.run do |server|
      child!(<<~'RUBY', env: { "PYROSCOPE_SERVER_ADDRESS" => server.address })
        require "spanprof"
        GC.stress = true
        labels = Array.new(15) { |i| ["name#{i}", "v" * 1000 + i.to_s] }.to_h
        started = Spanprof.start(labels: labels, application_name: "a" * 100)
        GC.stress = false
        abort Spanprof.unavailable_reason unless started
        burn 0.1
      RUBY
      labels = server.uploads.first.labels
      15.times { |i| assert labels["name#{i}"] == "v" * 1000 + i.to_s, "name#{i}" }
    end
  end
end
