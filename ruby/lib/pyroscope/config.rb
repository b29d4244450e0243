# frozen_string_literal: true

module Pyroscope
  # What {Pyroscope.configure} yields: the options of the gem pyroscope, of 1.x
  # and of those before, with their defaults, and all of {Spanprof.start}.
  class Config
    # A default that an environment variable beats is told from the same text
    # given by the program by being this very object.
    SERVER_ADDRESS = "http://localhost:4040".dup.freeze
    LOG_LEVEL = "error".dup.freeze

    DEFAULTS = {
      application_name: "", app_name: nil, server_address: SERVER_ADDRESS, auth_token: "", basic_auth_username: "",
      basic_auth_password: "", log_level: LOG_LEVEL, sample_rate: 100, detect_subprocesses: true, oncpu: true,
      on_cpu: true, report_pid: false, report_thread_id: false, tags: {}, compression: "gzip",
      report_encoding: "pprof", autoinstrument_rails: true, tenant_id: "", http_headers: {}
    }.freeze

    # What an option is called by {Spanprof.start}.
    NAMES = {
      app_name: :application_name, basic_auth_username: :basic_auth_user, sample_rate: :sample_rate_hz, tags: :labels
    }.freeze

    # Options that change nothing here, but for these values.
    WITHOUT_EFFECT = {
      oncpu: [[true], "CPU time is what is profiled"],
      on_cpu: [[true], "CPU time is what is profiled"],
      detect_subprocesses: [[true, false], "forked children are profiled, others are not"],
      report_pid: [[false], "each process has its own profiles"],
      report_thread_id: [[false], "threads are not told apart"],
      compression: [["gzip"], "profiles are compressed with gzip"],
      report_encoding: [["pprof"], "profiles are written as pprof"]
    }.freeze

    DEFAULTS.each_key { |name| attr_accessor name }

    def initialize
      @more = {}
      DEFAULTS.each { |name, value| instance_variable_set(:"@#{name}", value) }
    end

    # @param name [Symbol, String] of an option
    # @return [Object] its value
    def [](name)
      public_send(name)
    end

    # @param name [Symbol, String] of an option
    # @param value [Object]
    def []=(name, value)
      public_send(:"#{name}=", value)
    end

    # @return [Hash{Symbol => Object}] all options
    def to_h
      DEFAULTS.to_h { |name, _| [name, public_send(name)] }.merge(@more)
    end

    # @return [Hash{Symbol => Object}] for {Spanprof.start}; what is empty here
    #   is not given there
    # @api private
    def options
      given = to_h.except(*WITHOUT_EFFECT.keys).reject { |_, value| absent?(value) }
      given.delete(:application_name) if given.key?(:app_name)
      given = given.except(:basic_auth_username, :basic_auth_password) unless both_credentials?
      given.transform_keys { |name| NAMES.fetch(name, name) }
    end

    # @return [Hash{Symbol => Symbol}] what the program called an option
    # @api private
    def names
      names = NAMES.invert
      app_name.nil? ? names.except(:application_name) : names
    end

    # @return [Array<String>] one sentence for each option without effect
    # @api private
    def remarks
      remarks = WITHOUT_EFFECT.filter_map do |name, (silent, reason)|
        "#{name} = #{public_send(name).inspect} has no effect: #{reason}" unless silent.include?(public_send(name))
      end
      remarks << "basic_auth_username and basic_auth_password have no effect without each other" if one_credential?
      remarks
    end

    private

    # nil, "", {} and [] are "not given" in every generation; so is a default
    # that the environment replaces.
    def absent?(value)
      value.nil? || value.equal?(LOG_LEVEL) || (value.respond_to?(:empty?) && value.empty?) ||
        (value.equal?(SERVER_ADDRESS) && ENV.fetch("PYROSCOPE_SERVER_ADDRESS", "") != "")
    end

    def credentials
      [basic_auth_username, basic_auth_password].reject { |text| text.nil? || text.to_s.empty? }
    end

    def both_credentials?
      credentials.size == 2
    end

    def one_credential?
      credentials.size == 1
    end

    # Options of {Spanprof.start} that the gem pyroscope does not have.
    def method_missing(name, *arguments)
      option = name.name.delete_suffix("=").to_sym
      return super if arguments.size > 1 || (option == name && !@more.key?(option))

      option == name ? @more[option] : @more[option] = arguments.first
    end

    def respond_to_missing?(name, include_private = false)
      name.end_with?("=") || @more.key?(name) || super
    end
  end
end
