# frozen_string_literal: true

require_relative "bench"
require_relative "../../ruby/profile_reader"
require "opentelemetry/sdk"

# Spans whose work can be recognized. The work of the span "fetch" is done in a method
# "burn_fetch", which identifies a sample whatever its labels are. The true CPU times
# are measured with the thread's CPU clock.
module Spans
  # Has one burn method for each name. All have the same code.
  module Burn; end

  # The name of work without a span.
  OUTSIDE = "outside"

  class << self
    # @return [Hash{String => Float}] true CPU seconds by name of work
    attr_reader :account

    # @return [Hash{String => String}] names of spans by the label profile_id
    attr_reader :ids

    # Begins to record the true CPU times, without profiling.
    def account_only
      @account = Hash.new(0.0)
      @ids = {}
      @lock = Mutex.new
    end

    # Starts to profile this process into a folder, with spanprof's span processor.
    def start(directory, rate: 100, signal: 0, server: nil, native: true, interval_ms: 10_000,
              **processor)
      require "spanprof"
      follow(Spanprof::SpanProcessor.new(root_span_only: false, **processor))
      Spanprof.start(application_name: "bench", output_directory: directory, sample_rate_hz: rate,
                     signal_number: signal, server_address: server,
                     native_frames: native ? :libraries : :none, upload_interval_ms: interval_ms, log_level: :error) or raise Spanprof.unavailable_reason
    end

    # Makes the SDK call this processor for spans, and records the true CPU times.
    # @param processor [Object, nil]
    def follow(processor)
      account_only
      # Without this variable, the SDK would export to localhost:4318 if the exporter's gem
      # is installed, or else log that it has no processor.
      ENV["OTEL_TRACES_EXPORTER"] = "none"
      handler = OpenTelemetry.error_handler
      OpenTelemetry.error_handler = ->(exception: nil, message: nil) { raise exception || message }
      OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor) if processor }
      OpenTelemetry.error_handler = handler
      @tracer = OpenTelemetry.tracer_provider.tracer("bench")
    end

    # Uses CPU time in the burn method of this name, and records it.
    # @return [Float] CPU seconds
    def work(name, seconds) = booked(name) { Burn.public_send(:"burn_#{name}", Bench.cpu + seconds) }

    # Records the CPU time of the block under this name.
    # @return [Float] CPU seconds
    def booked(name)
      begin_s = Bench.cpu
      yield
      spent = Bench.cpu - begin_s
      @lock.synchronize { @account[name] += spent }
      spent
    end

    # @yieldparam span [OpenTelemetry::Trace::Span]
    def in_span(name, **options)
      @tracer.in_span(name, **options) do |span|
        known(span, name)
        yield span
      end
    end

    # Starts a span without making it the current one.
    def start_span(name) = @tracer.start_span(name).tap { |span| known(span, name) }

    # Defines a burn method for every name.
    def name(*names)
      names.each do |name|
        next if Burn.respond_to?(:"burn_#{name}")

        Burn.module_eval(<<~RUBY, "burn.rb", 1)
          def self.burn_#{name}(until_s)
            rounds = 0
            while (left_s = until_s - Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)).positive?
              end_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + left_s
              while Process.clock_gettime(Process::CLOCK_MONOTONIC) < end_s
                count = 0
                count += 1 while count < 400
                rounds += 1
              end
            end
            rounds
          end
        RUBY
      end
    end

    # Runs a case in its own process.
    # @return [Spans::Verdict]
    def measure(limit: 300, **options)
      Bench.apart(limit: limit) do
        Bench.directory do |directory|
          start(directory, **options)
          began_s = Bench.process_cpu
          expected = yield
          process_s = Bench.process_cpu - began_s
          Spanprof.stop(timeout: 30) or raise "not everything was handed on"
          Verdict.of(ProfileReader.samples(directory), account, ids, expected.is_a?(Hash) ? expected : {}, process_s)
        end
      end
    end

    private

    def known(span, name)
      @lock.synchronize { @ids[span.context.hex_span_id] = name }
    end
  end

  # The results of a case, in seconds of CPU time. For the burn methods: the true time
  # (true_s), the sampled time (seen_s), the sampled time with a span's label
  # (labelled_s), and the sampled time with a wrong label (wrong_s). For the process:
  # its CPU time (process_s), the true time by span name, and the sampled time by label.
  Verdict = Struct.new(:true_s, :seen_s, :labelled_s, :wrong_s, :process_s, :true_by_name, :by_label, :samples, :stray,
                       keyword_init: true) do
    # @param expected [Hash{String => String}] span names by names of work, where they
    #   differ
    def self.of(samples, account, ids, expected, process_s)
      verdict = new(true_s: account.except(OUTSIDE).values.sum, seen_s: 0.0, labelled_s: 0.0, wrong_s: 0.0,
                    process_s: process_s, true_by_name: {}, by_label: {}, samples: 0, stray: {})
      account.each { |work, seconds| verdict.book(:true_by_name, expected.fetch(work, work), seconds) }
      samples.each { |sample| verdict.add(sample, ids, expected) }
      verdict
    end

    # Adds a sample. Its work is recognized by the innermost burn method. CPU time
    # between a thread's last tick and its exit is a sample without a stack, with the
    # labels of the thread's last span.
    def add(sample, ids, expected)
      seconds = sample.cpu_ns / 1e9
      label, id = sample.labels.values_at("span_name", "profile_id")
      work = sample.stack.find { |name| name.match?(/(?:\A|[.#])burn_/) }&.slice(/burn_(\w+)/, 1)
      work ||= expected.key(label) || label if sample.stack == ["[thread end]"]
      wanted = work == OUTSIDE ? nil : expected.fetch(work, work)
      if label || wanted
        book(:by_label, label, seconds)
        self.samples += 1
      end
      judge(work, wanted, label, expected.fetch(ids[id], ids[id]), id, seconds) if work
    end

    def book(member, name, seconds)
      self[member][name] = self[member].fetch(name, 0.0) + seconds
    end

    # @return [Float] share of the labelled CPU time that has a wrong label
    def wrong = labelled_s.positive? ? wrong_s / labelled_s : 0.0

    # @return [Float] share of the true CPU time in spans that has no label
    def lost = 1 - (labelled_s / true_s)

    # The deviation by chance. It has two causes: the first tick of a thread comes after
    # a random part of the interval, and a tick is either in the work or outside.
    # @return [Float] one standard deviation of {#lost}
    def chance(threads, tick_s: 0.01)
      outside = [1 - (true_by_name.values.sum / process_s), 0].max
      Math.sqrt((threads / 6.0) + (true_s / tick_s * outside)) * tick_s / true_s
    end

    # @return [Float] half the sum of the differences between true and measured shares
    def distance
      truth = shares(true_by_name.except(OUTSIDE))
      measured = shares(by_label)
      (truth.keys | measured.keys).sum { |name| (truth.fetch(name, 0.0) - measured.fetch(name, 0.0)).abs } / 2
    end

    # The value that {#distance} does not exceed in 99 of 100 runs with this number of
    # independent samples, found by simulation.
    # @return [Float]
    def noise(trials: Bench.choose(2000, 200), random: Random.new(1))
      truth = shares(true_by_name.except(OUTSIDE)).values
      edges = truth.inject([]) { |sums, share| sums << ((sums.last || 0.0) + share) }
      Bench.quantile(Array.new(trials) { trial_distance(truth, edges, random) }, 0.99)
    end

    private

    def judge(work, wanted, label, named_by_id, id, seconds)
      self.seen_s += seconds if wanted
      self.labelled_s += seconds if wanted && label
      return if label == wanted && named_by_id == wanted

      book(:stray, "#{work} as #{label.inspect}, by id #{id && named_by_id.inspect}", seconds)
      self.wrong_s += seconds if label || id
    end

    def shares(seconds) = seconds.transform_values { |value| value / seconds.values.sum }

    def trial_distance(truth, edges, random)
      counts = Array.new(truth.size, 0)
      samples.times do
        at = random.rand
        counts[edges.index { |edge| at < edge } || (edges.size - 1)] += 1
      end
      truth.each_with_index.sum { |share, index| (share - counts[index].fdiv(samples)).abs } / 2
    end
  end
end
