# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "set"
require "tmpdir"

require "opentelemetry/sdk"
require "spanprof/otel"

require "noise"
require "profile_reader"

# A test of spans with real profiles. Each span burns CPU time in a separate method, so the stack of
# a sample shows the true span, whatever the sample's labels are.
class SpanCase < Minitest::Test
  # The methods burn_NAME, which burn CPU time. They rarely read the CPU clock: a thread that reads
  # it at the end of a time slice is descheduled just before the tick that would have sampled it.
  module Work
    def self.burn(name, seconds)
      method = :"burn_#{name}"
      module_eval(<<~RUBY, __FILE__, __LINE__ + 1) unless respond_to?(method)
        def self.#{method}(until_s)
          while (left_s = until_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
            end_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + left_s
            nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < end_s
          end
        end
      RUBY
      public_send(method, SpanCase.cpu_s + seconds)
    end
  end

  def self.cpu_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

  def setup
    @directory = Dir.mktmpdir("spanprof-test")
    @slices = []
  end

  def teardown
    Spanprof.stop
    FileUtils.rm_rf(@directory)
    OpenTelemetry::Context.clear
  end

  # Burns CPU time of this thread in the method burn_NAME.
  # @param name [Symbol] the name of the active span; :outside if there is none
  def burn(name, seconds)
    start_s = SpanCase.cpu_s
    Work.burn(name, seconds)
    @slices << [name, SpanCase.cpu_s - start_s, Thread.current]
  end

  # @return [Array<ProfileReader::Sample>] samples of the block
  def profile(**options, &block)
    @slices.clear
    FileUtils.rm_rf(Dir["#{@directory}/*"])
    provider = options.delete(:provider) || OpenTelemetry::SDK::Trace::TracerProvider.new
    @processor = Spanprof::Otel::SpanProcessor.new("test.cpu", "http://localhost:4040", **options)
    provider.add_span_processor(@processor)
    @tracer = provider.tracer("test")
    started = Spanprof.start(application_name: "test", output_directory: @directory, log_level: :error)
    assert started, Spanprof.unavailable_reason
    start_s = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    block.call
    @cpu_s = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start_s
    assert Spanprof.stop(timeout: 20), "the profile was not written in time"
    @samples = ProfileReader.samples(@directory)
  end

  # @return [Float] s of CPU time that burn(name) has actually burned
  def truth(*names)
    @slices.sum { |name, seconds, _| names.include?(name) ? seconds : 0.0 }
  end

  # @return [Symbol, nil] the name whose method burn_NAME was sampled
  def worker(sample)
    sample.stack.each { |frame| return Regexp.last_match(1).to_sym if frame =~ /\bburn_(\w+)\z/ }
    nil
  end

  # @return [Float] s of CPU time in burn(name), in all samples or in those that the block selects
  def seen(*names)
    @samples.sum { |sample| names.include?(worker(sample)) && (!block_given? || yield(sample)) ? sample.cpu_ns : 0 } / 1e9
  end

  def names_of(samples = @samples) = samples.map { |sample| sample.labels["span_name"] }.uniq

  # Assert that every sample in burn(name) has the span of that name, or the span that `expected`
  # has for the name (nil for no span), and that no CPU time is missing.
  def assert_spans(**expected)
    workers = @slices.map(&:first).uniq
    workers.each do |name|
      wanted = expected.fetch(name) { name == :outside ? nil : name }
      got = @samples.select { |sample| worker(sample) == name }.group_by { |sample| sample.labels["span_name"] }
      got = got.to_h { |label, samples| [label, (samples.sum(&:cpu_ns) / 1e9).round(3)] }
      assert_empty got.keys - [wanted&.to_s], "CPU in burn(#{name}) by span_name: #{got}"
      # a shorter time may fall between two ticks
      refute_empty got, "burn(#{name})" if truth(name) >= 0.05
    end
    assert_cpu(*workers)
  end

  # Assert that no CPU time in burn(name) is missing, within the noise of the samples.
  def assert_cpu(*workers)
    assert_in_delta truth(*workers), seen(*workers), noise_s(*workers), "CPU in burn(#{workers.join(", ")})"
  end

  # @return [Float] maximum difference between the CPU time of the samples in burn(name) and the
  #   actual time, in s
  def noise_s(*workers)
    threads = @slices.filter_map { |name, _, thread| thread if workers.include?(name) }.uniq.size
    Noise.seconds(truth(*workers), total_s: @cpu_s, samples: Spanprof.stats[:samples_taken], threads: threads) +
      Noise.ended_s(@samples)
  end

  def current_context = OpenTelemetry::Context.current

  # Hide OpenTelemetry's log messages about contexts that are detached out of order.
  def quietly
    handler = OpenTelemetry.error_handler
    OpenTelemetry.error_handler = ->(**) {}
    yield
  ensure
    OpenTelemetry.error_handler = handler
  end
end
