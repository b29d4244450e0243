# frozen_string_literal: true

# Common code of the stress programs in this folder. Each program runs alone, with
# the gem on its load path, and must exit with status 0.
#
#   SPANPROF_STRESS_SECONDS=20 SPANPROF_TEST_WALL_HZ=1000r ruby forks.rb
require "spanprof"
require "fiddle"
require "tmpdir"
require_relative "../../ruby/profile_reader"

# Profiles a block for the duration of the program, and then checks the counters and the samples.
module Stress
  SECONDS = Float(ENV.fetch("SPANPROF_STRESS_SECONDS", "5"))

  # Maximum number of seconds until a child exits. If a child takes longer, it hangs.
  END_S = 20

  class << self
    # @return [String] the folder to which the profiles are written
    attr_reader :directory

    # Calls the block repeatedly until the time is over.
    # @param walks [Boolean] whether ../walks.c sends the signals, thousands a second to each
    #   running thread; otherwise wall-clock timers send them
    # @param wrong [Proc, nil] describes the fault in a sample; returns nil if the sample is
    #   right
    # @yieldparam round [Integer] 0, 1, 2, …
    def run(walks: false, wrong: nil, &block)
      # Use wall-clock timers, because the kernel's tick limits the rate of CPU timers.
      ENV["SPANPROF_TEST_WALL_HZ"] ||= "1000r" unless walks
      Dir.mktmpdir do |directory|
        @directory = directory
        @walks = walks && c_functions("walks.c", begin: [[], Fiddle::TYPE_INT], end: [[], Fiddle::TYPE_VOID])
        Spanprof.start(application_name: name, output_directory: directory, upload_interval_ms: 1000) or
          abort "not profiled: #{Spanprof.unavailable_reason}"
        @until = now + SECONDS
        rounds = walks ? walked { repeat(&block) } : repeat(&block)
        Spanprof.stop(timeout: 10)
        judge(Spanprof.stats, rounds)
        inspect_samples(wrong) if wrong
      end
    end

    # Runs the block. Meanwhile ../walks.c sends signals to the running threads of this process.
    def walked
      error = @walks[:begin].call
      abort "no more signals: #{SystemCallError.new(error).message}" unless error.zero?
      yield
    ensure
      @walks[:end].call if error&.zero?
    end

    # @return [Boolean] whether there is time left
    def more? = now < @until

    # Burns CPU time of this thread.
    def burn(seconds)
      clock = Process::CLOCK_THREAD_CPUTIME_ID
      limit = Process.clock_gettime(clock) + seconds
      nil while Process.clock_gettime(clock) < limit
    end

    # Calls the block after `depth` recursive calls. Each of them goes through a Ruby method with an
    # `ensure`, a C method and a block.
    def deep(depth, &block)
      depth.zero? ? block.call : [depth].each { |left| deep(left - 1, &block) }
    ensure
      "x".dup << "y"
    end

    # @raise [SystemStackError]
    def overflow = overflow

    # Runs the block in a fork, which must exit successfully and in time.
    # @return [Integer] its pid
    def child(&block)
      pid = fork(&block)
      began = now
      until (_, status = Process.wait2(pid, Process::WNOHANG))
        abort "a child hangs: #{File.read("/proc/#{pid}/status")}" if now - began > END_S
        sleep 0.002
      end
      abort "a child ended by #{status.inspect}" unless status.success?
      pid
    end

    # @param file [String] a C file of tests/stress; the names of its functions begin with the
    #   file's name
    # @param functions [Hash{Symbol => Array}] for each function its parameter types and its return
    #   type
    # @return [Hash{Symbol => Fiddle::Function}]
    def c_functions(file, functions)
      name = File.basename(file, ".c")
      system("cc", "-O2", "-shared", "-fPIC", "-pthread", "-o", "#{@directory}/#{name}.so", "#{__dir__}/../#{file}") or
        abort "no compiler"
      loaded = Fiddle.dlopen("#{@directory}/#{name}.so")
      functions.to_h { |function, (takes, gives)| [function, Fiddle::Function.new(loaded["#{name}_#{function}"], takes, gives)] }
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # @return [Integer] memory of this process in MiB
    def resident = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024

    def name = File.basename($PROGRAM_NAME, ".rb")

    # @return [Integer] the number of calls of the block
    def repeat
      round = 0
      while more?
        yield round
        round += 1
        @warm ||= resident if now > @until - (SECONDS / 2)
      end
      round
    end

    def inspect_samples(wrong)
      samples = ProfileReader.samples(@directory)
      found = samples.filter_map { |sample| wrong.call(sample)&.then { |text| [text, sample.stack] } }
      puts "#{name}: #{samples.size} stacks, #{found.size} wrong"
      found.first(5).each { |text, stack| puts "#{text}: #{stack.inspect}" }
      abort "#{found.size} stacks are wrong" unless found.empty?
    end

    def judge(stats, rounds)
      puts "#{name}: #{rounds} rounds, #{stats[:samples_taken]} walks, #{stats[:stacks_walk_cut]} cut, " \
           "#{stats[:frames_unnamed]} frames unnamed, #{@warm} MiB half-way, #{resident} MiB, #{Spanprof.const_get(:Native).walker}"
      abort "too few samples" if stats[:samples_taken] < SECONDS * 20
      unaccounted = stats[:samples_taken] - stats[:samples_exported] -
                    stats.sum { |key, count| key.start_with?("samples_dropped") ? count : 0 }
      abort "#{unaccounted} samples are unaccounted for" unless unaccounted.zero?
    end
  end
end
