# frozen_string_literal: true

require "child"

# If stderr or the logger does not work, no call raises an exception, all blocks run, and all
# results are the same as with working output.
class BrokenOutputTest < ChildTest
  # All public methods, called with arguments that cause log messages.
  CALLS = <<~'RUBY'
    RESULTS = File.open(ENV.fetch("RESULTS"), "a")
    RESULTS.sync = true
    def result(name)
      value = yield
      RESULTS.puts "#{name}: #{value.inspect}"
    rescue Exception => e
      RESULTS.puts "#{name} raised #{e.class} in #{e.backtrace.first(3).join(" < ")}"
    end
    # An object whose to_s raises, and an error whose message raises.
    class Mute
      class Error < StandardError
        def message = raise("no message")
      end
      def to_s = raise(Error)
    end
    OPTIONS = defined?(LOGGER) ? { logger: LOGGER } : {}

    result("start refused") { Spanprof.start(**OPTIONS, sample_rate_hz: 5000) }
    result("why") { Spanprof.unavailable_reason }
    result("start") { Spanprof.start(log_level: :debug, **OPTIONS) }
    result("start again") { Spanprof.start(log_level: :debug, labels: { a: 1 }, **OPTIONS) }
    result("start again refused") { Spanprof.start(sample_rate_hz: 0, **OPTIONS) }
    result("running?") { Spanprof.running? }
    result("logger") { Spanprof.logger.equal?(OPTIONS[:logger]) }
    result("label") { Spanprof.label("oops") { 7 } }
    result("label of a mute object") { Spanprof.label(a: Mute.new) { 7 } }
    result("label without a block") { Spanprof.label(a: 1) }
    result("pause") { Spanprof.pause }
    result("resume") { Spanprof.resume }
    result("profile") { Spanprof.profile { 7 }.value }
    result("flush") { Spanprof.flush(timeout: "soon") }
    result("stats") { Spanprof.stats.key?(:samples_captured) || Spanprof.stats.keys.size > 10 }
    result("available?") { Spanprof.available? }
    # Ruby's own fork raises if stderr is closed, because it flushes stderr.
    result("fork") { STDERR.closed? ? 7 : Process.wait2(fork { exit!(Spanprof.label([]) { 7 }) })[1].exitstatus }
    result("exec") { exec("/nonexistent/program") rescue $!.class }
    result("stop") { Spanprof.stop(timeout: Object) }

    result("configure") do
      Pyroscope.configure do |config|
        config.log_level = "loud"
        config.oncpu = false
        config.basic_auth_username = "alone"
        config.server_address = ENV["SERVER"]
        config.logger = LOGGER if defined?(LOGGER)
      end
    end
    result("configure refused") { Pyroscope.configure { |config| config.nonsense = 1 } }
    result("tag_wrapper") { Pyroscope.tag_wrapper(%w[oops]) { 7 } }
    result("tag_wrapper without a block") { Pyroscope.tag_wrapper({ a: 1 }) }
    result("_add_tags") { Pyroscope._add_tags("oops") }
    result("_add_tags of another thread") { Pyroscope._add_tags(-1, { a: 1 }) }
    result("_remove_tags") { Pyroscope._remove_tags(nil) }
    result("tag") { Pyroscope.tag({ a: 1 }) && nil }
    result("remove_tags") { Pyroscope.remove_tags(:a) && nil }
    result("initialize_rails_hooks") { Pyroscope.initialize_rails_hooks && nil }
    result("thread_id") { Pyroscope.thread_id.class }
    result("current_config") { Pyroscope.current_config.class }

    require "opentelemetry/sdk"
    result("provider") do
      OpenTelemetry.tracer_provider = OpenTelemetry::SDK::Trace::TracerProvider.new
      OpenTelemetry.tracer_provider.add_span_processor(Spanprof::Otel::SpanProcessor.new(app_name: Mute.new, url_template: 7))
      OpenTelemetry.tracer_provider.add_span_processor(Pyroscope::Otel::SpanProcessor.new("app", Mute.new)) && nil
    end
    result("span") { OpenTelemetry.tracer_provider.tracer("t").in_span("s") { 7 } }
    result("on_start") { Spanprof::Otel::SpanProcessor.new.on_start(nil, nil).then { nil } }
    result("on_finish") { Spanprof::Otel::SpanProcessor.new.on_finish(nil) }
    result("force_flush") { Spanprof::Otel::SpanProcessor.new.force_flush(timeout: 1) }
    result("install") { Spanprof::Otel.install }
    result("inherit_spans=") { Spanprof::Otel.inherit_spans = false }
    result("stop of Pyroscope") { Pyroscope.stop }
    result("shutdown") { Pyroscope.shutdown }
    result("drop") { Pyroscope.drop }
    RESULTS.puts "end"
  RUBY

  RESULTS = <<~TEXT
    start refused: false
    why: "sample_rate_hz is 5000, not within 1 to 1000"
    start: true
    start again: true
    start again refused: false
    running?: true
    logger: true
    label: 7
    label of a mute object: 7
    label without a block: nil
    pause: true
    resume: true
    profile: 7
    flush: true
    stats: true
    available?: true
    fork: 7
    exec: Errno::ENOENT
    stop: true
    configure: true
    configure refused: false
    tag_wrapper: 7
    tag_wrapper without a block: nil
    _add_tags: nil
    _add_tags of another thread: nil
    _remove_tags: nil
    tag: nil
    remove_tags: nil
    initialize_rails_hooks: nil
    thread_id: Integer
    current_config: Pyroscope::Config
    provider: nil
    span: 7
    on_start: nil
    on_finish: nil
    force_flush: 0
    install: true
    inherit_spans=: false
    stop of Pyroscope: true
    shutdown: false
    drop: false
    end
  TEXT

  # Ways in which stderr is broken, each with the code that breaks it.
  OUTPUTS = {
    "as ever" => "",
    "closed" => "STDERR.close",
    "without a reader" => "reader, writer = IO.pipe; STDERR.reopen(writer); writer.close; reader.close",
    "without a reader, whose signal ends the program" => <<~RUBY,
      trap("PIPE", "SYSTEM_DEFAULT")
      reader, writer = IO.pipe; STDERR.reopen(writer); writer.close; reader.close
    RUBY
    "full" => 'STDERR.reopen("/dev/full", "w")',
    "a full pipe" => <<~RUBY,
      READER, writer = IO.pipe
      nil until writer.write_nonblock("x" * 4096, exception: false) == :wait_writable
      STDERR.reopen(writer)
    RUBY
    "an object that raises" => "$stderr = Class.new { def write(*) = raise(IOError, 'no'); def flush = self }.new",
    "a Warning.warn that raises" => "def Warning.warn(*, **) = raise(IOError, 'no')"
  }.freeze

  LOGGERS = {
    "none" => "",
    "one that raises" => <<~RUBY,
      LOGGER = Object.new
      %i[debug info warn error].each { |level| LOGGER.define_singleton_method(level) { |_| raise IOError, "closed" } }
    RUBY
    "one that is not finished" => <<~RUBY,
      LOGGER = Object.new
      %i[debug info warn error].each { |level| LOGGER.define_singleton_method(level) { |_| raise NotImplementedError } }
    RUBY
    "one without most methods" => "LOGGER = Object.new.tap { |logger| def logger.info(_) = raise('no') }"
  }.freeze

  # @return [String] the results of all calls
  def results(prelude)
    path = "#{@directory}/results"
    result = child("require 'pyroscope'\n#{prelude}\n#{CALLS}", env: { "RESULTS" => path, "SERVER" => no_server }, limit: 30)
    assert result.status.success?, "#{result.status} #{result.err} #{File.read(path)}"
    File.read(path)
  end

  OUTPUTS.each do |output, prelude|
    LOGGERS.each do |name, logger|
      define_method(:"test_stderr_#{output.tr(" ,", "_")}_and_as_logger_#{name.tr(" ", "_")}") do
        assert_equal RESULTS, results("#{prelude}\n#{logger}")
      end
    end
  end

  # If spanprof's thread did not rescue the logger's exceptions, they would end the program.
  def test_a_logger_that_exits_or_raises_a_non_standard_error
    ["exit 3", "raise Exception, 'no'", "throw :nobody"].each do |code|
      result = child!(<<~RUBY)
        Thread.abort_on_exception = true
        require "spanprof"
        LINES = Queue.new
        LOGGER = Object.new
        LOGGER.define_singleton_method(:info) { |line| LINES << line; #{code} }
        p Spanprof.start(logger: LOGGER, log_level: :info)
        LINES.pop
        p Spanprof.stop
        p LINES.pop
      RUBY
      assert_equal ["true", "true", '"spanprof: profiling stopped"'], result.out.lines(chomp: true), code
    end
  end
end
