# frozen_string_literal: true

require "json"
require_relative "bench"

# The alternatives to spanprof, which `run --peers` installs, each into its own folder.
# This module starts them in place of spanprof, with their other features switched off.
module Peers
  # The gem of each alternative. Vernier must have version 1: version 0, which Rubies
  # before 3.3 would get, is an empty gem.
  GEMS = { "stackprof" => "stackprof", "vernier" => "vernier:>=1", "pf2" => "pf2", "pyroscope" => "pyroscope-otel",
           "datadog" => "datadog" }.freeze
  # Alternatives that support spans.
  WITH_SPANS = %w[pyroscope datadog].freeze
  # Alternatives whose handler of SIGPROF takes the sample on the sampled thread, or
  # requests it there.
  WITH_HANDLER = %w[stackprof pf2 datadog].freeze
  # An address without a server.
  NOWHERE = "http://127.0.0.1:1"

  class << self
    # @return [Array<String>] the alternatives that are installed and requested
    def names(of = GEMS.keys) = of & ENV.fetch("SPANPROF_BENCH_PEERS", "").split

    # @return [Hash{String => String}] the environment in which a program finds an
    #   alternative, but not spanprof
    def env(name, folder = ENV.fetch("GEM_HOME"))
      home = "#{folder}/peers/#{name}"
      { "GEM_HOME" => home, "GEM_PATH" => home }
    end

    # Runs a program of this folder with an alternative.
    # @return [String, nil] the program's output; nil after a failure, which is printed
    def program(name, program, *arguments, **options)
      attempt(name) { Bench.program(program, *arguments, env: env(name), **options) }
    end

    # Runs the block. If it fails, prints the error and returns nil, because an
    # alternative that fails must not stop the benchmark.
    def attempt(name)
      yield
    rescue StandardError => e
      Bench.say "#{name}: #{e.message}"
      nil
    end

    # Runs a program `count` times for each kind, alternately. `peers` are kinds of
    # alternatives, such as "pyroscope" or "pyroscope:all".
    # @return [Hash{String => Array<Hash>}] the outputs by kind
    def turns(program, kinds, peers, count)
      found = {}
      count.times do
        kinds.each { |kind| (found[kind] ||= []) << JSON.parse(Bench.program(program, kind)) }
        peers.each do |kind|
          out = program(kind[/\w+/], program, kind) or next
          (found[kind] ||= []) << JSON.parse(out)
        end
      end
      found
    end

    # The text of a row's column for comparison: the control, and the figure that the
    # block returns for each alternative.
    # @yieldreturn [String, nil]
    def comparison(control, peers)
      figures = peers.filter_map { |name| yield(name)&.then { |figure| "#{name} #{figure}" } }
      [control, *figures].reject(&:empty?).join("; ")
    end

    # Starts profiling this process with an alternative, like spanprof with its default
    # options.
    def start(name, address: NOWHERE, rate_hz: 100)
      @rate_hz = rate_hz
      case name
      when "stackprof"
        require "stackprof"
        StackProf.start(mode: :cpu, interval: 1_000_000 / rate_hz) or raise "it did not start"
      when "vernier"
        require "vernier"
        Vernier.start_profile(interval: 1_000_000 / rate_hz)
      when "pf2"
        require "pf2"
        Pf2.start(interval_ms: 1000 / rate_hz, time_mode: :cpu)
      when "pyroscope" then start_pyroscope(address, rate_hz)
      when "datadog" then start_datadog(URI(address))
      else raise "there is no code to start #{name}"
      end
    end

    # Stops an alternative that has a handler.
    # @return [Integer] the number of samples that it took
    def taken(name)
      case name
      when "stackprof", "pf2" then (stop(name) * @rate_hz).round
      when "datadog"
        stats = Datadog.send(:components).profiler.send(:worker).stats
        stats.fetch(:cpu_skipped).zero? or raise "datadog skipped #{stats.fetch(:cpu_skipped)} samples"
        stats.fetch(:cpu_sampled)
      end
    end

    # Stops an alternative, and lets it upload its samples.
    # @return [Float, nil] the seconds in its samples; nil if it uploads them
    def stop(name)
      case name
      when "stackprof"
        StackProf.stop
        StackProf.results.fetch(:samples).fdiv(@rate_hz)
      when "pf2" then Pf2.stop.fetch(:samples).size.fdiv(@rate_hz)
      when "vernier" then vernier_running(Vernier.stop_profile).fdiv(@rate_hz)
      else
        name == "pyroscope" ? Pyroscope.stop : Datadog.shutdown!
        nil
      end
    end

    # @return [Object, nil] the alternative's processor for the SDK's spans
    def processor(name, root_span_only: true)
      return unless name == "pyroscope"

      require "pyroscope/otel"
      Pyroscope::Otel::SpanProcessor.new("bench.cpu", NOWHERE).tap { |made| made.root_span_only = root_span_only }
    end

    # @return [Array<String>] the folders of this process's threads in /proc
    def threads = Dir["/proc/self/task/*"]

    # @return [Float] CPU seconds of those threads that still exist
    #   (Documentation/scheduler/sched-stats.rst of Linux: the first field is ns on the CPU)
    def cpu_of(threads)
      threads.sum do |path|
        File.read("#{path}/schedstat").to_i
      rescue Errno::ENOENT, Errno::ESRCH
        0
      end / 1e9
    end

    private

    # @return [Integer] number of samples of running threads, which have category 0
    def vernier_running(result)
      result.threads.values.sum do |thread|
        thread[:sample_categories].zip(thread[:weights]).sum { |category, weight| category.zero? ? weight : 0 }
      end
    end

    def start_pyroscope(address, rate_hz)
      require "pyroscope"
      Pyroscope.configure do |config|
        config.application_name = "bench"
        config.server_address = address
        config.sample_rate = rate_hz
      end or raise "it did not start"
    end

    # Datadog reads spans from the SDK's context, and supports only 100 Hz.
    def start_datadog(address)
      require "datadog"
      Datadog.configure do |config|
        config.logger.level = Logger::FATAL
        config.agent.host = address.host
        config.agent.port = address.port
        config.tracing.enabled = config.remote.enabled = config.telemetry.enabled = false
        config.profiling.enabled = true
        config.profiling.advanced.preview_otel_context_enabled = :only
      end
      Datadog::Profiling.enabled? && Datadog::Profiling.wait_until_running or raise "it did not start"
    end
  end
end
