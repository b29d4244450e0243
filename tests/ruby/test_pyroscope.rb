# frozen_string_literal: true

require "child"
require "push_server"

# The interface of the gem pyroscope.
class PyroscopeTest < ChildTest
  CONFIGURE = <<~'RUBY'
    require "pyroscope"
    def configure(&block)
      Pyroscope.configure do |config|
        config.application_name = "app"
        block&.call(config)
      end
    end
  RUBY

  # Option values that the gem pyroscope sends unchecked or that end its process, and spanprof's
  # result: a message, or nil if the process is profiled.
  VALUES = {
    %(application_name = "") => nil, # nil, because PYROSCOPE_APPLICATION_NAME is set
    %(application_name = nil) => nil,
    %(application_name = "\\xFF") => "application_name is not valid UTF-8",
    %(app_name = "\\xFF") => "app_name is not valid UTF-8",
    %(app_name = "a\\0b") => "app_name contains a NUL byte",
    %(application_name = 'app{x="y"}') => nil,
    %(server_address = "http://[::bad") => /\Aserver_address /,
    %(server_address = "localhost") => /\Aserver_address /,
    %(server_address = "http://") => /\Aserver_address /,
    %(server_address = "ftp://host") => /\Aserver_address /,
    %(server_address = nil) => nil,
    %(sample_rate = 0) => "sample_rate is 0, not within 1 to 1000",
    %(sample_rate = -1) => "sample_rate is -1, not within 1 to 1000",
    %(sample_rate = 5000) => "sample_rate is 5000, not within 1 to 1000",
    %(sample_rate = "100") => "sample_rate must be an Integer, not a value of class String",
    %(sample_rate = nil) => nil,
    %(tags = { "a" => "b c" }) => nil,
    %(tags = { "a" => "b=c" }) => nil,
    %(tags = { "a" => "b,c" }) => nil,
    %(tags = { "a" => "" }) => nil,
    %(tags = { a: nil, b: 1, c: :d }) => nil,
    %(tags = { "a" => "é" }) => nil,
    %(tags = { "a b" => "c", 1 => 2 }) => nil,
    %(tags = { "span-id" => "c" }) => 'tags has the label name "span_id", which the profiler sets itself',
    %(tags = { "a" => "\\xFF" }) => 'tags has a value that is not UTF-8 for label "a"',
    %(tags = nil) => nil,
    %(tags = []) => nil,
    %(tags = [["a", "b"], [:c, 1]]) => nil,
    %(tags = ["a"]) => "tags must be a Hash or a String, not a value of class Array",
    %(http_headers = { "X-A" => "b" }) => nil,
    %(http_headers = { "X-A" => "b\\nc" }) => /\Ahttp_headers /,
    %(log_level = "trace") => nil,
    %(log_level = "loud") => nil,
    %(auth_token = "t") => nil,
    %(tenant_id = "t") => nil,
    %(upload_interval_ms = 500) => nil,
    %(colour = "red") => 'there is no option "colour"',
    %(sample_rat = 5) => 'there is no option "sample_rat"; did you mean sample_rate?'
  }.freeze

  def test_each_value_is_accepted_or_refused_with_a_message
    calls = VALUES.keys.map do |setting|
      "Pyroscope.stop; p [configure { |config| config.#{setting} }, Spanprof.unavailable_reason, Spanprof.running?]"
    end
    result = child!(CONFIGURE + calls.join("\n"))
    answers = result.out.lines.map { |line| eval(line) }
    assert_equal VALUES.size, answers.size, result.err
    VALUES.zip(answers) do |(setting, sentence), (configured, reason, running)|
      assert_operator sentence, :===, reason, "#{setting}: #{reason}"
      assert_equal [sentence.nil?] * 2, [configured, running], setting
    end
  end

  def test_defaults_and_current_config
    result = child!(CONFIGURE + <<~'RUBY')
      p Pyroscope.current_config
      configure { |config| config.tags["region"] = "eu"; config[:tenant_id] = "t" }
      config = Pyroscope.current_config
      p config.class, config.application_name, config.app_name, config.server_address, config.sample_rate, config.oncpu
      p config.tags, config.log_level, config.autoinstrument_rails, config[:tenant_id], config.http_headers
      p config.to_h.size, config.respond_to?(:compression=), Pyroscope::VERSION == Spanprof::VERSION
    RUBY
    assert_equal ["nil", "Pyroscope::Config", '"app"', "nil", '"http://localhost:4040"', "100", "true",
                  { "region" => "eu" }.inspect, '"error"', "true", '"t"', "{}", "19", "true", "true"],
                 result.out.lines(chomp: true)
  end

  def test_the_interface_of_the_old_gems_is_complete
    result = child!(CONFIGURE + <<~'RUBY')
      require "pyroscope/version"
      require "pyroscope/otel/version"
      configure { |config| config.log_level = "loud"; config.tags = { a: nil } }
      config = Pyroscope.current_config
      p Pyroscope::Config.members == config.members, config.members.zip(config.to_a).to_h == config.to_h
      processor = Pyroscope::Otel::SpanProcessor.new("app.cpu", "http://localhost:4040")
      p processor.pyroscope_endpoint.port, processor.legacy_span_label, processor.is_a?(Spanprof::Otel::SpanProcessor)
      p Spanprof::Otel::SpanProcessor.new.legacy_span_label, Pyroscope::Otel::Error.ancestors.include?(StandardError)
      p Pyroscope::Otel::VERSION == Pyroscope::VERSION
      p Pyroscope::Otel::SpanProcessor.new("app", "http://[bad").pyroscope_endpoint
    RUBY
    assert_equal %w(true true 4040 true true false true true "http://[bad"), result.out.split
    assert_equal ['spanprof: log_level = "loud" is not a level: "error" is used'], result.err.lines(chomp: true)
  end

  def test_options_without_effect_are_logged_once
    result = child!(CONFIGURE + <<~'RUBY')
      2.times do
        configure do |config|
          config.server_address = nil
          config.oncpu = false
          config.compression = "zstd"
          config.report_encoding = "collapsed"
          config.detect_subprocesses = false
          config.basic_auth_username = "me"
        end
      end
    RUBY
    assert_equal ["spanprof: oncpu = false has no effect: only CPU time is profiled",
                  'spanprof: compression = "zstd" has no effect: profiles are compressed with gzip',
                  'spanprof: report_encoding = "collapsed" has no effect: profiles are written as pprof',
                  "spanprof: basic_auth_username has no effect without basic_auth_password"], result.err.lines(chomp: true)
  end

  def test_the_environment_overrides_only_defaults
    PushServer.run do |server|
      env = { "PYROSCOPE_SERVER_ADDRESS" => server.address, "PYROSCOPE_APPLICATION_NAME" => "by environment",
              "PYROSCOPE_TENANT_ID" => "tenant", "PYROSCOPE_SAMPLE_RATE" => "50" }
      child!(CONFIGURE + "configure { |config| config.tags = { a: 'b,c' } }; burn 0.1", env: env)
      upload = server.uploads.first
      assert_equal %w[app b,c], upload.labels.values_at("service_name", "a")
      assert_equal ["tenant", 20_000_000], [upload.headers["x-scope-orgid"], upload.profile.period_ns]
    end
  end

  def test_tags_keep_their_dots
    PushServer.run do |server|
      child!(CONFIGURE + <<~RUBY)
        configure do |config|
          config.server_address = "#{server.address}"
          config.tags = { "host.name" => "a" }
        end
        Pyroscope.tag_wrapper({ "http.route" => "/x" }) { burn 0.1 }
      RUBY
      upload = server.uploads.first
      assert_equal "a", upload.labels["host.name"]
      assert_includes upload.profile.samples.map { |sample| sample.labels["http.route"] }, "/x"
    end
  end

  def test_credentials
    PushServer.run do |server|
      child!(CONFIGURE + <<~RUBY)
        configure do |config|
          config.server_address = "#{server.address}"
          config.basic_auth_username = "me"
          config.basic_auth_password = "secret"
          config.http_headers = { "X-One": "1", "X-Two" => "2, \\"3\\"" }
        end
        burn 0.1
      RUBY
      headers = server.uploads.first.headers
      assert_equal ["Basic #{["me:secret"].pack("m0")}", "1", '2, "3"'],
                   headers.values_at("authorization", "x-one", "x-two")
    end
  end

  def test_configure_at_any_time_after_stop_and_in_a_child
    result = child!(CONFIGURE + <<~'RUBY')
      def round = p(configure { |config| config.server_address = nil })
      round
      round
      p Pyroscope.stop, Pyroscope.stop
      round
      p Pyroscope.shutdown
      round
      p Pyroscope.drop
      round
      $stdout.flush
      fork { round; p Pyroscope.stop; round }
      Process.wait
      p $?.success?
    RUBY
    assert_equal %w[true true true false true true true true true true true true true], result.out.split
  end

  # Arguments of tag_wrapper, and the labels that the samples get.
  TAGS = {
    %({ "key" => "value" }) => "value", %({ key: :value }) => "value", %({ key: 1 }) => "1",
    %({ key: "a,b=c d" }) => "a,b=c d", %({ key: nil }) => nil, %({ key: "" }) => nil,
    %({ "key" => "caf\\xE9" }) => "caf?", %({ "key" => "a\\0b" }) => /\Aa.*b\z/,
    %({ key: Object.new.tap { |o| def o.to_s = raise("boo") } }) => nil, %({}) => nil,
    %({ key: "v" * 5000 }) => /\Av+\z/
  }.freeze

  def test_tag_wrapper_labels_its_block
    TAGS.each do |tags, value|
      FileUtils.rm_rf(@profiles)
      result = child!(CONFIGURE + <<~RUBY)
        configure { |config| config.server_address = nil }
        p Pyroscope.tag_wrapper(#{tags}) { burn 0.1; 7 }
      RUBY
      assert_equal "7\n", result.out, result.err
      inside = samples.select { |sample| sample.in?(/burn/) }
      refute_empty inside
      inside.each { |sample| assert_operator value, :===, sample.labels["key"], tags }
    end
  end

  def test_tags_that_are_not_a_hash_are_ignored
    result = child!(CONFIGURE + <<~'RUBY')
      configure { |config| config.server_address = nil }
      [nil, 1, "a", [], Object.new].each do |tags|
        p Pyroscope.tag_wrapper(tags) { 1 }
        Pyroscope._add_tags(tags)
        Pyroscope._remove_tags(tags)
      end
      begin
        Pyroscope.tag_wrapper({ a: 1 }) { raise "mine" }
      rescue => e
        p e.message
      end
    RUBY
    assert_equal %w[1 1 1 1 1 "mine"], result.out.split, result.err
  end

  def test_add_and_remove_tags_in_both_arities
    child!(CONFIGURE + <<~'RUBY')
      configure { |config| config.server_address = nil }
      def one = burn(0.1)
      def both = burn(0.1)
      def none = burn(0.1)
      Pyroscope._add_tags({ "a" => "1" })
      one
      Pyroscope._add_tags(Pyroscope.thread_id, { b: 2 })
      both
      Pyroscope._remove_tags({ "a" => "1" })
      Pyroscope._remove_tags(Pyroscope.thread_id, { b: 2 })
      none
    RUBY
    { "one" => ["1", nil], "both" => %w[1 2], "none" => [nil, nil] }.each do |name, labels|
      inside = samples.select { |sample| sample.in?(/\b#{name}\z/) }
      assert_equal [labels], inside.map { |sample| sample.labels.values_at("a", "b") }.uniq, name
    end
  end

  def test_deprecated_methods_print_a_warning
    result = child!(CONFIGURE + "Pyroscope.tag({ a: 1 }); Pyroscope.remove_tags(:a)")
    assert_equal 2, result.err.lines.grep(/deprecated/).size
  end

  def test_a_bundle_that_loads_only_spanprof_finds_pyroscope
    result = child!(<<~'RUBY')
      require "spanprof"
      p Pyroscope.configure { |config| config.server_address = nil }, Pyroscope.autoload?(:Otel).end_with?("otel.rb")
    RUBY
    assert_equal %w[true true], result.out.split
  end
end
