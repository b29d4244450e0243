# frozen_string_literal: true

require_relative "spanprof/version"
require_relative "spanprof/native_loader"
require_relative "spanprof/logging"
require_relative "spanprof/label"
require_relative "spanprof/options"
require_relative "spanprof/fork"
require_relative "spanprof/exit"
require_relative "spanprof/replaced_gems"
require_relative "spanprof/instrument"
require_relative "spanprof/session"
require_relative "spanprof/tags"

# A span-aware continuous CPU profiler. Nothing here raises into the program or
# keeps it waiting longer than the time given, unless SPANPROF_REQUIRED=1 asks
# {start} to fail where it cannot profile.
module Spanprof
  autoload :Otel, File.expand_path("spanprof/otel.rb", __dir__)
  autoload :Profile, File.expand_path("spanprof/profile.rb", __dir__)
  autoload :RackApp, File.expand_path("spanprof/rack_app.rb", __dir__)
  autoload :SpanProcessor, File.expand_path("spanprof/span_processor.rb", __dir__)

  class << self
    # Profile this process, and what it forks, from now on. Where a session runs
    # already it is stopped first: the options take its place.
    #
    # Each option is a field of the core's options and has an environment
    # variable (PYROSCOPE_APPLICATION_NAME and so on); what is given here wins.
    #
    # @example
    #   Spanprof.start(application_name: "shop", server_address: "http://localhost:4040")
    # @param options [Hash] what to profile, and where it goes
    # @option options [String] :application_name name of the service; else that of the spans
    # @option options [Hash, String] :labels labels of every profile, also as "name=value,name=value"
    # @option options [Boolean] :clean_label_names (false) what may not be in a label's name becomes `_`
    # @option options [Boolean] :dotted_label_names (false) labels leave by the names they were given; else with `_` for
    #   each dot, since Grafana shows no other
    # @option options [String] :resource_labels names of OTEL_RESOURCE_ATTRIBUTES that become labels
    # @option options [Integer] :sample_rate_hz (100) samples per second of CPU time and thread, 1..1000
    # @option options [Integer] :signal_number (0) the signal to use; 0 finds a free real-time signal
    # @option options [Boolean] :native_frames (true) frames of C code too
    # @option options [Boolean] :full_native_stacks (false) every native frame, also those that only started the interpreter,
    #   and each address without a name by itself
    # @option options [Boolean] :registered_threads_only (false)
    #   no threads but those that register, by a label or span too
    # @option options [Integer] :stack_depth_max (512) frames of a stack, then "[truncated]"
    # @option options [Integer] :window_max_bytes (64 MiB) memory of a window, then "[too many stacks]"
    # @option options [Boolean] :report_pid (false) label `pid`
    # @option options [Boolean] :report_thread_id (false) label `thread_id`, the kernel's number
    # @option options [Boolean] :report_thread_name (false) label `thread_name`, as the kernel has it
    # @option options [String] :server_address Pyroscope's URL; without it nothing is uploaded
    # @option options [String] :basic_auth_user user of basic auth
    # @option options [String] :basic_auth_password password of basic auth
    # @option options [String] :auth_token bearer token
    # @option options [String] :tenant_id header X-Scope-OrgID
    # @option options [Hash, String] :http_headers more headers of every upload
    # @option options [String] :ca_bundle PEM file of the authorities to trust
    # @option options [String] :client_cert PEM file of the client's certificate
    # @option options [String] :client_key PEM file of its key
    # @option options [String] :proxy URL of a proxy; "" for none
    # @option options [String] :no_proxy hosts reached without it, separated by commas
    # @option options [String] :upload_protocol "push", the default, or "ingest"
    # @option options [Integer] :upload_interval_ms (10_000) length of a profile's window, 100..3_600_000
    # @option options [Integer] :queue_bytes (8 MiB) encoded profiles waiting in memory
    # @option options [String] :output_directory profiles are also written here
    # @option options [Integer] :output_max_bytes (1 GiB) past it the oldest of them go
    # @option options [Integer] :output_max_age_s (7 days) how long they stay
    # @option options [String] :spool_directory what cannot be sent waits here
    # @option options [Integer] :spool_max_bytes (64 MiB) past it the oldest go
    # @option options [Integer] :spool_max_age_s (2700) how long it waits
    # @option options [Integer] :span_names_max (500) distinct span names, then "[other]"
    # @option options [Integer] :label_values_max (1024) distinct values of a label, then "[other]"
    # @option options [Symbol, String, Integer] :log_level the least of what is logged: :debug, :info, :warn, :error or
    #   :off
    # @option options [Boolean] :flush_on_sigterm (false) hand on what there is before SIGTERM ends the process, where
    #   `trap "TERM", "SYSTEM_DEFAULT"` took Ruby's own handler away, which ends the program by an exception
    # @option options [Logger] :logger (Rails.logger, else warnings on stderr)
    # @option options [Boolean] :autoinstrument_rails (true) label `action` for requests of Rails, `job` for jobs of
    #   ActiveJob and Sidekiq
    # @return [Boolean] whether it profiles as asked; if not, the log says why, and so does {unavailable_reason}, unless
    #   a session that ran before goes on as it was
    # @raise [Spanprof::Error] only with SPANPROF_REQUIRED=1
    def start(**options)
      Session.start(options)
    end

    # Stop profiling and hand on what there is.
    # @param timeout [Numeric, nil] seconds to wait for it; nil: as many as without
    # @return [Boolean, nil] false: not within the time; nil: nothing ran
    def stop(timeout: Session::STOP_S)
      Session.stop(timeout)
    end

    # Profile a block: the CPU time of the block itself and of the fibers and
    # threads that it creates (except by `Thread.start`, which Ruby does not report).
    # Any number of profiles run side by side, and beside {start}. Threads that
    # exist already, such as those of a pool, and threads of native code are not
    # in it; `all_threads` adds all threads of the process.
    #
    # The profile is only returned to the caller. Nothing is raised: if profiling
    # is not possible, the block still runs, and the result says why it is empty.
    # The profile distinguishes spans if a {SpanProcessor} was added.
    #
    # @example
    #   profile = Spanprof.profile { import_orders }
    #   puts profile
    #   profile.top.first.name
    #   profile.save("import.pb.gz")
    #   profile.open                  # a flame graph in the browser; html("import.html") writes it
    # @param sample_rate_hz [Integer] samples per second of CPU time and thread, 1..1000; above the kernel's tick
    #   (often 250) each sample stands for more time
    #   (all profiles share one sampler, that of the session if one runs: {Profile#note} says if its rate differs)
    # @param native_frames [Boolean] functions of C code too; without them their time belongs to the calling Ruby method
    # @param all_threads [Boolean] profile all threads of the process while the block runs
    # @return [Profile]
    def profile(sample_rate_hz: 1000, native_frames: false, all_threads: false, &block)
      profile = Profile.new
      profile.record(!all_threads, sample_rate_hz, native_frames, nil, &block)
      profile
    end

    # Hand on what was sampled until now, and go on.
    # @param timeout [Numeric, nil] seconds to wait for it; nil: as many as without
    # @return [Boolean, nil] false: not within the time; nil: nothing runs
    def flush(timeout: Session::FLUSH_S)
      Session.flush(timeout)
    end

    # Take no samples until {resume}; what was sampled before leaves as ever. A process that is forked meanwhile is
    # paused too. Pausing twice is pausing once.
    #
    # @example
    #   Spanprof.pause
    #   begin
    #     warm_up
    #   ensure
    #     Spanprof.resume
    #   end
    # @return [Boolean, nil] true; nil: nothing runs
    def pause
      Session.pause
    end

    # Take samples again.
    # @return [Boolean, nil] true; nil: nothing runs
    def resume
      Session.unpause
    end

    # @return [Boolean] whether there is a session in this process, paused or not
    def running?
      Session.running?
    end

    # @return [Hash{Symbol => Integer, Array<Integer>}] the core's counters since the start in this process; empty
    #   where it cannot be loaded
    def stats
      LOAD_ERROR || Session.other_ractor? ? {} : Native.stats
    end

    # @return [Boolean] whether profiling is possible, as far as is known: see {unavailable_reason}
    def available?
      unavailable_reason.nil?
    end

    # @return [String, nil] one sentence: why this Ruby cannot be profiled, why the last {start} did not, or why none is
    #   made for this process of a Rails application; nil where nothing speaks against it
    def unavailable_reason
      Session.unavailable_reason
    end

    # @return [Logger, nil] what receives the lines of the log: the one given, else Rails.logger; nil: stderr
    def logger
      Logging.logger
    end

    # @param logger [Logger, nil] anything with the methods debug, info, warn and error
    def logger=(logger)
      Logging.logger = logger
    end
  end
end

# A Gemfile that names spanprof in place of pyroscope loads this file, and the
# program goes on to say Pyroscope.
autoload :Pyroscope, File.expand_path("pyroscope.rb", __dir__)

require_relative "spanprof/railtie" if defined?(Rails::Railtie)
