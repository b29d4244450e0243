# frozen_string_literal: true

require "logger"
require "push_server"
require "span_case"
require "pyroscope/otel"

# The span processor: its options, and the attributes that it sets. It never raises exceptions.
class SpanProcessorTest < SpanCase
  KEYS = %w[pyroscope.profile.id pyroscope.profile.url pyroscope.profile.baseline.url
            pyroscope.profile.diff.url].freeze

  # A process that is not profiled sets no attributes.
  def setup
    super
    assert Spanprof.start(application_name: "test", output_directory: @directory, log_level: :off)
  end

  def provider_of(processor, **options)
    OpenTelemetry::SDK::Trace::TracerProvider.new(**options).tap { |provider| provider.add_span_processor(processor) }
  end

  def tracer_of(processor, **options) = provider_of(processor, **options).tracer("test")

  # @return [Array<Hash>] the attributes of a root span, of its child and of its grandchild
  def attributes(processor)
    tracer = tracer_of(processor)
    tracer.in_span("root") do |root|
      tracer.in_span("child") do |child|
        tracer.in_span("grandchild") { |grandchild| return [root, child, grandchild].map(&:attributes) }
      end
    end
  end

  def processor(*arguments, **options) = Spanprof::Otel::SpanProcessor.new(*arguments, **options)

  def test_the_old_class_is_a_subclass
    assert_operator Pyroscope::Otel::SpanProcessor, :<, Spanprof::Otel::SpanProcessor
  end

  def test_arguments_and_defaults
    [[], ["app.cpu"], ["app.cpu", "http://pyroscope:4040"]].each do |arguments|
      made = processor(*arguments)
      assert_equal arguments, [made.application_name, made.server_address].first(arguments.size)
      assert_equal [true, true, :auto], [made.root_span_only, made.add_span_name, made.add_url]
      assert_equal [false] * 4, [made.add_baseline_urls, made.add_trace_id, made.legacy_span_label, made.span_id_label]
    end
    assert_raises(ArgumentError) { processor(root_span: true) }
  end

  def test_old_names_of_options
    [{ app_name: "app.cpu", pyroscope_endpoint: "http://pyroscope:4040" },
     { application_name: "app.cpu", server_address: "http://pyroscope:4040" }].each do |options|
      made = processor(**options)
      assert_equal options.values * 2,
                   [made.app_name, made.pyroscope_endpoint, made.application_name, made.server_address]
      made.app_name = made.pyroscope_endpoint = "other"
      assert_equal %w[other other], [made.application_name, made.server_address]
    end
  end

  def test_spans_have_a_url_if_it_can_be_opened
    assert_equal KEYS.first(1), attributes(processor).first.keys
    assert_equal KEYS.first(2), attributes(processor(url_template: "https://grafana/{profile_id}")).first.keys
    PushServer.run do |server|
      server.links = "span"
      assert Spanprof.start(application_name: "test", server_address: server.address, log_level: :off)
      made = processor
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 20
      until attributes(made).first.key?(KEYS[1])
        assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC), :<, deadline
        sleep 0.02
      end
      assert_operator attributes(made).first[KEYS[1]], :start_with?, server.address
      assert_equal KEYS.first(1), attributes(processor(add_url: false)).first.keys
    end
  ensure
    Spanprof.stop
  end

  def test_the_old_processor_always_sets_a_url
    made = Pyroscope::Otel::SpanProcessor.new("app", "http://localhost:4040")
    assert_equal [true, KEYS.first(2)], [made.add_url, attributes(made).first.keys]
  end

  def test_the_documented_snippet
    made = Pyroscope::Otel::SpanProcessor.new("rideshare-ruby.cpu", "http://localhost:4040").tap do |proc|
      proc.root_span_only = true
      proc.add_span_name = true
      proc.add_url = true
    end
    before_s = Time.now.to_i
    root, child, grandchild = attributes(made)
    assert_match(/\A[0-9a-f]{16}\z/, root["pyroscope.profile.id"])
    uri = URI(root["pyroscope.profile.url"])
    query = URI.decode_www_form(uri.query).to_h
    assert_equal ["localhost", 4040], [uri.host, uri.port]
    assert_equal %(rideshare-ruby.cpu{profile_id="#{root["pyroscope.profile.id"]}"}), query["query"]
    assert_includes before_s..Time.now.to_i, query["from"].to_i
    assert_equal 3600, query["until"].to_i - query["from"].to_i
    assert_empty [child, grandchild].flat_map(&:keys) & KEYS
  end

  def test_without_profiling_spans_get_no_attributes
    made = processor("app", "http://localhost", root_span_only: false, add_url: true)
    assert_equal KEYS.first(2), attributes(made).first.keys
    Spanprof.stop
    marks = -> { attributes(made).flat_map(&:keys) & KEYS }
    assert_empty marks.call, "stopped"
    logged { refute Spanprof.start(sample_rate_hz: 0) }
    assert_empty marks.call, "refused"
    ENV["PYROSCOPE_AGENT_ENABLED"] = "false"
    refute Spanprof.start(application_name: "test", log_level: :off)
    assert_empty marks.call, "switched off"
    ENV.delete("PYROSCOPE_AGENT_ENABLED")
    assert Spanprof.start(application_name: "test", output_directory: @directory, log_level: :off)
    assert_equal KEYS.first(2), attributes(made).first.keys
  ensure
    ENV.delete("PYROSCOPE_AGENT_ENABLED")
  end

  def test_exactly_the_spans_whose_id_samples_have_get_attributes
    all = attributes(processor("app", "http://localhost", root_span_only: false, add_url: true))
    assert_equal 3, all.map { |set| set["pyroscope.profile.id"] }.uniq.size
    all.each { |set| assert_includes set["pyroscope.profile.url"], set["pyroscope.profile.id"] }

    off = OpenTelemetry::SDK::Trace::Samplers::ALWAYS_OFF
    tracer = tracer_of(processor("app", "http://localhost"), sampler: off)
    tracer.in_span("unsampled") { |span| refute_predicate span, :recording? }
  end

  def test_each_option_can_be_set_later
    made = processor("app", "http://localhost:4040/", add_url: true)
    assert_equal KEYS.first(2), attributes(made).first.keys
    made.add_url = false
    assert_equal KEYS.first(1), attributes(made).first.keys
    made.add_baseline_urls = true
    made.baseline_labels = { env: "production", region: "eu" }
    assert_equal KEYS.values_at(0, 2, 3), attributes(made).first.keys
    baseline = URI.decode_www_form(URI(attributes(made).first[KEYS[2]]).query).to_h
    assert_equal %(app.cpu{env="production",region="eu"}), baseline["leftQuery"]
    made.add_baseline_urls = false
    made.add_url = true
    made.url_template = "https://grafana/?id={profile_id}&name={span_name}"
    assert_equal "https://grafana/?id=#{attributes(made).first.then { |set| set[KEYS[0]] }}&name=root".sub(/id=\h+/, ""),
                 attributes(made).first[KEYS[1]].sub(/id=\h+/, "")
    made.root_span_only = false
    assert_equal [true] * 3, attributes(made).map { |set| set.key?(KEYS[0]) }
  end

  def test_names_and_trace_ids_as_labels
    cases = {
      {} => %w[profile_id span_name], { add_span_name: false } => %w[profile_id],
      { legacy_span_label: true } => %w[profile_id span], { add_trace_id: true } => %w[profile_id span_name trace_id],
      { span_id_label: true } => %w[span_id span_name]
    }
    cases.each do |options, labels|
      trace = nil
      profile(**options) do
        @tracer.in_span("work") do |span|
          trace = span.context.hex_trace_id
          burn(:work, 0.05)
        end
      end
      sample = @samples.find { |candidate| worker(candidate) == :work }
      assert_equal labels, sample.labels.keys.sort
      assert_equal "work", sample.labels["span"] if options[:legacy_span_label]
      assert_equal trace, sample.labels["trace_id"] if options[:add_trace_id]
    end
  end

  def test_flush_and_shutdown
    made = processor
    assert_equal OpenTelemetry::SDK::Trace::Export::SUCCESS, made.force_flush
    assert_equal OpenTelemetry::SDK::Trace::Export::SUCCESS, made.force_flush(timeout: 1)
    assert_equal OpenTelemetry::SDK::Trace::Export::SUCCESS, made.shutdown(timeout: 1)
    assert_equal OpenTelemetry::SDK::Trace::Export::SUCCESS, made.shutdown
  end

  # @return [String] the lines that are logged while the block runs
  def logged
    lines = StringIO.new
    Spanprof.const_get(:Logging).level = nil
    Spanprof.logger = Logger.new(lines)
    yield
    lines.string
  ensure
    Spanprof.logger = nil
  end

  def test_wrong_options_are_logged_once_and_the_defaults_are_used
    { url_template: "{nonsense}", pyroscope_endpoint: "http://a b", app_name: "\xFF",
      baseline_labels: "x" }.each do |option, value|
      made = processor("app", "http://localhost")
      made.public_send(:"#{option}=", value)
      lines = logged { 3.times { assert_includes attributes(made).first, KEYS[0] } }
      wanted = { pyroscope_endpoint: "server_address", app_name: "application_name" }.fetch(option, option.to_s)
      assert_equal 1, lines.lines.count { |line| line.include?(wanted) }, lines
    end
  end

  def test_a_nil_or_empty_endpoint_omits_only_the_url
    [nil, "", URI("http://localhost:4040")].each do |endpoint|
      logged { assert_includes attributes(processor("app", endpoint)).first, KEYS[0] }
      logged { assert_includes attributes(processor(nil, endpoint)).first, KEYS[0] }
    end
  end

  class Raising
    def to_s = raise(NotImplementedError, "no text")
  end

  NAMES = {
    nil: nil, symbol: :symbol, integer: 7, empty: "", not_utf8: "bad \xFF", latin1: "caf\xE9".dup.force_encoding("ISO-8859-1"),
    utf16: "über".encode("UTF-16LE"), nul: "a\0b", long: "x" * (1 << 20), raising: Raising.new, binary: "\xDE\xAD".b
  }.freeze

  # OpenTelemetry itself fails with some names (it requires a name and calls its method empty?).
  # Only errors that it raises without spanprof may be raised with spanprof.
  def test_no_name_makes_the_processor_raise
    empty = OpenTelemetry::SDK::Trace::TracerProvider.new.tracer("none")
    ours = tracer_of(processor("app", "http://localhost", root_span_only: false, add_url: true))
    outcome = lambda do |tracer, name|
      quietly { tracer.in_span(name) { |span| span.name = name } }
      nil
    rescue Exception => e # rubocop:disable Lint/RescueException
      e.class
    end
    logged do
      NAMES.each { |kind, name| assert_equal [outcome.call(empty, name)], [outcome.call(ours, name)], kind.to_s }
    end
  end

  def test_names_are_cleaned_in_samples
    wanted = { not_utf8: nil, latin1: "café", utf16: "über", symbol: "symbol", nul: nil, long: nil }
    profile { wanted.each_key { |kind| @tracer.in_span(NAMES[kind]) { burn(kind, 0.05) } } }
    wanted.each do |kind, text|
      names = names_of(@samples.select { |sample| worker(sample) == kind })
      assert_equal 1, names.size, kind.to_s
      assert_predicate names.first, :valid_encoding?
      text ? assert_equal(text, names.first) : refute_includes(names.first, "\0")
    end
    assert_operator Spanprof.stats[:span_names_cleaned], :>=, 3
  end

  class Freezes
    def on_start(span, _context) = span.freeze
    def on_finish(span) = nil
    def force_flush(timeout: nil) = 0
    def shutdown(timeout: nil) = 0
  end

  def test_a_frozen_span_is_not_changed
    provider = OpenTelemetry::SDK::Trace::TracerProvider.new
    provider.add_span_processor(Freezes.new)
    provider.add_span_processor(processor("app", "http://localhost"))
    tracer = provider.tracer("test")
    lines = logged { 3.times { assert_predicate tracer.start_span("frozen"), :frozen? } }
    assert_equal 1, lines.lines.grep(/frozen/i).size, lines
  end

  def test_on_finish_in_unusual_orders
    tracer = tracer_of(processor("app", "http://localhost", root_span_only: false, add_url: true))
    OpenTelemetry.logger = Logger.new(nil)
    span = tracer.start_span("twice")
    2.times { span.finish }
    tracer.start_span("elsewhere").then { |other| Thread.new { other.finish }.join }
    parent = tracer.start_span("parent")
    child = OpenTelemetry::Trace.with_span(parent) { tracer.start_span("child") }
    [parent, child].each(&:finish)
    open_spans = Array.new(200) { |i| tracer.start_span("open#{i}") }
    profile { Spanprof.stop && Spanprof.start(application_name: "again", output_directory: @directory) && open_spans.each(&:finish) }
    before = Spanprof.stats[:spans_live]
    tracer.in_span("after the stop") { 1 }
    assert_equal before, Spanprof.stats[:spans_live]
  ensure
    OpenTelemetry.logger = Logger.new($stdout)
  end

  def test_two_processors_and_two_providers
    profile(root_span_only: false) do
      other = tracer_of(processor("other", "http://localhost", root_span_only: false))
      @tracer.in_span("ours") do
        burn(:ours, 0.05)
        other.in_span("theirs") { burn(:theirs, 0.05) }
        burn(:ours, 0.05)
      end
    end
    assert_spans
  end

  def test_limits_of_attributes_are_respected
    limits = OpenTelemetry::SDK::Trace::SpanLimits.new(attribute_count_limit: 2, attribute_length_limit: 40)
    tracer_of(processor("app", "http://localhost", add_url: true)).in_span("root", attributes: { "one" => 1 }) do |span|
      assert_equal 3, span.attributes.size
      assert_equal 3, span.to_span_data.total_recorded_attributes
    end
    tracer = tracer_of(processor("app", "http://localhost", add_url: true), span_limits: limits)
    tracer.in_span("root", attributes: { "one" => 1, "two" => 2 }) do |span|
      assert_equal 2, span.attributes.size
      span.attributes.each_value { |value| assert_operator value.to_s.size, :<=, 40 }
      assert_equal 4, span.to_span_data.total_recorded_attributes
    end
  end

  def test_a_root_span_allocates_few_objects
    bare = tracer_of(Freezes.new.tap { |none| def none.on_start(_span, _context) = nil })
    ours = tracer_of(processor("app", "http://localhost", add_url: true))
    objects = lambda do |tracer|
      100.times { tracer.in_span("root") { 1 } }
      GC.disable
      before = GC.stat(:total_allocated_objects)
      1000.times { tracer.in_span("root") { 1 } }
      (GC.stat(:total_allocated_objects) - before).fdiv(1000)
    ensure
      GC.enable
    end
    assert_operator objects.call(ours) - objects.call(bare), :<=, 5
  end
end
