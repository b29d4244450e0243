# frozen_string_literal: true

require_relative "bench"
require_relative "../../ruby/profile_reader"
require "opentelemetry/sdk"

# Spans whose work can be recognised: the work of the span "fetch" is done in a
# method "burn_fetch", which tells where a sample belongs whatever its labels
# say, and an account is kept by the thread's own CPU clock.
module Spans
  # A method of its own for every name, all of the same shape.
  module Burn; end

  # What spans are to be called in samples whose work has no span.
  OUTSIDE = "outside"

  class << self
    # @return [Hash{String => Float}] true CPU seconds by name of work
    attr_reader :account

    # @return [Hash{String => String}] names of spans by profile_id
    attr_reader :ids

    # Keep the account, and start nothing.
    def account_only
      @account = Hash.new(0.0)
      @ids = {}
      @lock = Mutex.new
    end

    # Follow the spans of this process, and sample it into a folder.
    def start(directory, rate: 100, signal: 0, server: nil, native: true, interval_ms: 10_000,
              **processor)
      require "spanprof"
      follow(Spanprof::SpanProcessor.new(root_span_only: false, **processor))
      Spanprof.start(application_name: "bench", output_directory: directory, sample_rate_hz: rate,
                     signal_number: signal, server_address: server,
                     native_frames: native, upload_interval_ms: interval_ms, log_level: :error) or raise Spanprof.unavailable_reason
    end

    # Make spans, of which this processor is told, and keep the account.
    # @param processor [Object, nil]
    def follow(processor)
      account_only
      # The SDK would export to localhost:4318 where the exporter's gem is there,
      # and would only log that it has no processor.
      ENV["OTEL_TRACES_EXPORTER"] = "none"
      handler = OpenTelemetry.error_handler
      OpenTelemetry.error_handler = ->(exception: nil, message: nil) { raise exception || message }
      OpenTelemetry::SDK.configure { |config| config.add_span_processor(processor) if processor }
      OpenTelemetry.error_handler = handler
      @tracer = OpenTelemetry.tracer_provider.tracer("bench")
    end

    # Burn CPU time under a name, and book it.
    # @return [Float] what it came to
    def work(name, seconds) = booked(name) { Burn.public_send(:"burn_#{name}", Bench.cpu + seconds) }

    # Book what the block takes.
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

    # A span that nobody activates.
    def start_span(name) = @tracer.start_span(name).tap { |span| known(span, name) }

    # Gives every name its method.
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

    # Runs a case in a process of its own.
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

  # What the samples of a case say, in seconds of CPU: true and seen in methods
  # that burn, labelled of what was seen, wrong of what is labelled; all the
  # process had; and by name of span, true and measured.
  Verdict = Struct.new(:true_s, :seen_s, :labelled_s, :wrong_s, :process_s, :true_by_name, :by_label, :samples, :stray,
                       keyword_init: true) do
    # @param expected [Hash{String => String}] names of spans by names of work,
    #   where they differ
    def self.of(samples, account, ids, expected, process_s)
      verdict = new(true_s: account.except(OUTSIDE).values.sum, seen_s: 0.0, labelled_s: 0.0, wrong_s: 0.0,
                    process_s: process_s, true_by_name: {}, by_label: {}, samples: 0, stray: {})
      account.each { |work, seconds| verdict.book(:true_by_name, expected.fetch(work, work), seconds) }
      samples.each { |sample| verdict.add(sample, ids, expected) }
      verdict
    end

    # Work is recognised by the innermost method that burns. What a thread did
    # between its last tick and its end has its last span, and no stack.
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

    # @return [Float] share of the labelled CPU
    def wrong = labelled_s.positive? ? wrong_s / labelled_s : 0.0

    # @return [Float] share of the true CPU in spans
    def lost = 1 - (labelled_s / true_s)

    # What is missing or too much by chance alone: the clock of each of so many
    # threads starts within a tick, and a tick falls into the work or beside it.
    # @return [Float] one standard deviation of {#lost}
    def chance(threads, tick_s: 0.01)
      beside = [1 - (true_by_name.values.sum / process_s), 0].max
      Math.sqrt((threads / 6.0) + (true_s / tick_s * beside)) * tick_s / true_s
    end

    # @return [Float] half the summed difference of true and measured shares
    def distance
      truth = shares(true_by_name.except(OUTSIDE))
      measured = shares(by_label)
      (truth.keys | measured.keys).sum { |name| (truth.fetch(name, 0.0) - measured.fetch(name, 0.0)).abs } / 2
    end

    # What {#distance} does not exceed in 99 of 100 runs of so many independent
    # samples, by trying.
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
