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

# A span-aware continuous CPU profiler. Its methods do not raise exceptions and do not wait longer
# than their timeout. {start} raises an exception only if SPANPROF_REQUIRED=1 and the process cannot
# be profiled.
module Spanprof
  autoload :Configuration, File.expand_path("spanprof/configuration.rb", __dir__)
  autoload :Otel, File.expand_path("spanprof/otel.rb", __dir__)
  autoload :Profile, File.expand_path("spanprof/profile.rb", __dir__)
  autoload :RackApp, File.expand_path("spanprof/rack_app.rb", __dir__)
  autoload :SpanProcessor, File.expand_path("spanprof/span_processor.rb", __dir__)

  class << self
    # tests/package/option_lists.py generates the documentation of the options from application_name
    # to flush_on_sigterm.

    # Profile this process and its forked children from now on. If a session
    # runs already, the new one replaces it.
    #
    # Each option is a field of the core's options and has an environment
    # variable (such as PYROSCOPE_APPLICATION_NAME). Options given here have
    # precedence.
    #
    # @example
    #   Spanprof.start(application_name: "shop", server_address: "http://localhost:4040")
    # @param options [Hash] what to profile, and the destination of the profiles
    # @option options [String] :application_name Name of the service. If it is not given, the first of these names
    #   applies: `OTEL_SERVICE_NAME`, `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, the name in the tracer's Resource;
    #   after 30 s without a name, `unknown_service:EXECUTABLE`
    # @option options [Hash, String] :labels Labels of every profile, in the form `name=value,name=value`
    # @option options [String] :resource_labels Names of attributes in `OTEL_RESOURCE_ATTRIBUTES` that become labels,
    #   separated by commas; `service.namespace` always becomes a label
    # @option options [Boolean] :clean_label_names (false) Replace each invalid character of a label name by `_`;
    #   without this option, an invalid name makes the start fail
    # @option options [Boolean] :dotted_label_names (false) Keep the dots of label names instead of replacing them by
    #   `_`; Grafana does not show names with dots
    # @option options [Integer] :sample_rate_hz (100) Samples per second of CPU time of each thread; 1 to 1000
    # @option options [Integer] :signal_number (0) Number of the signal that the timers send; 0 selects a free real-time
    #   signal
    # @option options [Symbol, String] :native_frames (libraries) Native frames in stacks: `none`; `libraries`, native
    #   frames of all code except the interpreter itself, whose time belongs to the function that called it; or `all`,
    #   where each address without a name has its own frame
    # @option options [Boolean] :registered_threads_only (false) Profile only threads that registered, set a label or
    #   entered a span; threads of Python's `threading` register themselves
    # @option options [Integer] :stack_depth_max (512) Maximum number of frames of a stack; in a deeper stack, one frame
    #   `[truncated]` replaces the outer frames; 16 to 512
    # @option options [Integer] :window_max_bytes (64 MiB) Memory for the stacks, labels and names of one profile; when
    #   it is full, further stacks become `[too many stacks]`; at least 1 MiB
    # @option options [Boolean] :report_pid (false) Add the label `pid` to every sample
    # @option options [Boolean] :report_thread_id (false) Add the label `thread_id`, the kernel's number of the thread,
    #   to every sample
    # @option options [Boolean] :report_thread_name (false) Add the label `thread_name`, the kernel's name of the
    #   thread, to every sample
    # @option options [String, URI] :server_address URL of the Pyroscope server, such as `http://pyroscope:4040`;
    #   without a URL nothing is uploaded
    # @option options [String] :basic_auth_user User name for basic authentication
    # @option options [String] :basic_auth_password Password for basic authentication
    # @option options [String] :auth_token Bearer token that is sent to the server
    # @option options [String] :tenant_id Tenant, which is sent to the server in the header `X-Scope-OrgID`
    # @option options [Hash, String] :http_headers Headers to add to every upload, as lines `Name: value`, as
    #   `name=value,name=value` or as a JSON object
    # @option options [String, Pathname] :ca_bundle PEM file with the certificate authorities to trust, instead of the
    #   authorities of the system
    # @option options [String, Pathname] :client_cert PEM file of the client's certificate
    # @option options [String, Pathname] :client_key PEM file of the private key of `client_cert`
    # @option options [String, URI] :proxy URL of the proxy, or "" for no proxy; if this option is not set,
    #   `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` are read
    # @option options [String] :no_proxy Hosts to reach without the proxy, separated by commas; if this option is not
    #   set, `NO_PROXY` is read
    # @option options [String] :upload_protocol Protocol of uploads: `push` (the default) or `ingest`
    # @option options [Integer] :upload_interval_ms (10 s) Time that one profile covers; 100 ms to 1 h
    # @option options [Integer] :queue_bytes (8 MiB) Memory for encoded profiles that wait for their upload; when it is
    #   full, the oldest profiles move to the spool or are dropped; at least 64 KiB
    # @option options [String, Pathname] :output_directory Directory to which every profile is also written as a pprof
    #   file
    # @option options [Integer] :output_max_bytes (1 GiB) Size limit of `output_directory`; the oldest profiles are
    #   deleted first; at least 64 KiB
    # @option options [Integer] :output_max_age_s (7 days) Age at which a profile in `output_directory` is deleted; 1 s
    #   to 3650 days
    # @option options [String, Pathname] :spool_directory Directory in which profiles wait while the server cannot be
    #   reached, also after the end of the process; without this directory they are dropped
    # @option options [Integer] :spool_max_bytes (64 MiB) Size limit of `spool_directory`; the oldest profiles are
    #   deleted first; at least 64 KiB
    # @option options [Integer] :spool_max_age_s (45 min) Age at which a profile in `spool_directory` is deleted; 1 s to
    #   3650 days
    # @option options [Integer] :span_names_max (500) Maximum number of distinct span names; further names become
    #   `[other]`; 1 to 1000000
    # @option options [Integer] :label_values_max (1024) Maximum number of distinct values of each label name; further
    #   values become `[other]`; 1 to 1000000
    # @option options [Symbol, String, Integer] :log_level Least severe message to log: `debug`, `info`, `warn`, `error`
    #   or `off`; the default is `warn` on stderr, `info` with a logger
    # @option options [Boolean] :flush_on_sigterm (false) Send the remaining samples before SIGTERM ends the process, if
    #   the program does not handle SIGTERM; the default is true in Python
    # @option options [Logger] :logger (Rails.logger, else warnings on stderr)
    # @option options [Boolean] :autoinstrument_rails (true) label `action` for requests of Rails, `job` for jobs of
    #   ActiveJob and Sidekiq
    # @return [Boolean] whether a session with these options runs; if not, the log and {unavailable_reason} have the
    #   reason, and a session that ran before continues unchanged
    # @raise [Spanprof::Error] only with SPANPROF_REQUIRED=1
    # @raise [ArgumentError] an option has an unknown name
    def start(**options)
      Options.check_names(options.keys, Options::NAMES)
      Session.start(options)
    end

    # Start a session as {start} does, with options that a block sets.
    #
    # @example
    #   Spanprof.configure do |config|
    #     config.application_name = "shop"
    #     config.server_address = "http://localhost:4040"
    #   end
    # @yieldparam configuration [Configuration] has a writer for each option of {start}; nil means that the
    #   option is not set
    # @return [Boolean] whether a session with these options runs
    # @raise [NoMethodError] an option has an unknown name
    # @raise [Spanprof::Error] only with SPANPROF_REQUIRED=1
    def configure
      configuration = Configuration.new
      yield configuration
      start(**configuration.to_h.compact)
    end

    # Stop profiling and deliver the remaining samples.
    # @param timeout [Numeric, nil] maximum number of seconds to wait; nil for the default
    # @return [Boolean, nil] false if the time was too short; nil if no session ran
    def stop(timeout: Session::STOP_S)
      Session.stop(timeout)
    end

    # Profile a block: the CPU time of the block itself and of the fibers and
    # threads that it creates (except by `Thread.start`, which Ruby does not report).
    # Any number of profiles may run at the same time, also during a session of
    # {start}. Threads that exist already, such as those of a pool, and threads of
    # native code are not profiled, except with `all_threads`.
    #
    # The profile is only returned to the caller. The method does not raise: if
    # profiling is not possible, the block still runs, and the result has the reason.
    # The profile distinguishes spans if a {SpanProcessor} was added.
    #
    # @example
    #   profile = Spanprof.profile { import_orders }
    #   puts profile
    #   profile.top.first.name
    #   profile.save("import.pb.gz")
    #   profile.open                  # a flame graph in the browser; html("import.html") writes it
    # @param sample_rate_hz [Integer] samples per second of CPU time of each thread, 1..1000; above the kernel's
    #   tick rate (often 250) a sample represents more than one interval. All profiles share one sampler, that of the
    #   session if one runs: {Profile#note} reports a different rate.
    # @param native_frames [Symbol, String, nil] native frames as in {start}; nil: as in the running session, otherwise
    #   `libraries`
    # @param all_threads [Boolean] profile all threads of the process while the block runs
    # @return [Profile]
    def profile(sample_rate_hz: 1000, native_frames: nil, all_threads: false, &block)
      profile = Profile.new
      profile.record(!all_threads, sample_rate_hz, native_frames, nil, &block)
      profile
    end

    # Deliver the samples that were taken until now. Profiling continues.
    # @param timeout [Numeric, nil] maximum number of seconds to wait; nil for the default
    # @return [Boolean, nil] false if the time was too short; nil if no session runs
    def flush(timeout: Session::FLUSH_S)
      Session.flush(timeout)
    end

    # Take no samples until {resume}. Earlier samples are uploaded as usual. A process that is forked during the pause
    # is paused, too. Repeated calls have no further effect.
    #
    # @example
    #   Spanprof.pause
    #   begin
    #     warm_up
    #   ensure
    #     Spanprof.resume
    #   end
    # @return [Boolean, nil] true; nil if no session runs
    def pause
      Session.pause
    end

    # Take samples again.
    # @return [Boolean, nil] true; nil if no session runs
    def resume
      Session.unpause
    end

    # @return [Boolean] whether there is a session in this process, paused or not
    def running?
      Session.running?
    end

    # @return [Hash{Symbol => Integer, Array<Integer>}] the core's counters since the start in this process; empty
    #   if the core cannot be loaded
    def stats
      LOAD_ERROR || Session.other_ractor? ? {} : Native.stats
    end

    # @return [Boolean] whether there is no {unavailable_reason}
    def available?
      unavailable_reason.nil?
    end

    # @return [String, nil] the reason, in one sentence, if this Ruby cannot be profiled, the last {start} failed, or
    #   this process of a Rails application is not profiled; nil if no reason is known
    def unavailable_reason
      Session.unavailable_reason
    end

    # @return [Logger, nil] the receiver of log lines: the logger that was set, else Rails.logger; nil for stderr
    def logger
      Logging.logger
    end

    # @param logger [Logger, nil] any object with the methods debug, info, warn and error
    def logger=(logger)
      Logging.logger = logger
    end
  end
end

# A program that uses the module Pyroscope without requiring it keeps working when its Gemfile names
# spanprof instead of pyroscope: Bundler then loads this file.
autoload :Pyroscope, File.expand_path("pyroscope.rb", __dir__)

require_relative "spanprof/railtie" if defined?(Rails::Railtie)
