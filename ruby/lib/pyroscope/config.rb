# frozen_string_literal: true

module Pyroscope
  # The object that {Pyroscope.configure} yields. It has the options of the gem pyroscope, up to its
  # versions 1.x, with their defaults, and all options of {Spanprof.start}.
  class Config
    DEFAULTS = {
      application_name: "", app_name: nil, server_address: "http://localhost:4040", auth_token: "",
      basic_auth_username: "", basic_auth_password: "", log_level: "error", sample_rate: 100, oncpu: true,
      on_cpu: true, report_pid: false, report_thread_id: false, tags: {}.freeze, http_headers: {}.freeze,
      compression: "gzip", report_encoding: "pprof", autoinstrument_rails: true, tenant_id: "",
      detect_subprocesses: true
    }.freeze

    # Maps names of options of the gem pyroscope to their names for {Spanprof.start}.
    NAMES = {
      app_name: :application_name, basic_auth_username: :basic_auth_user, sample_rate: :sample_rate_hz, tags: :labels
    }.freeze

    # Options that have no effect. Each has the values that agree with spanprof's behaviour and are
    # accepted silently, and a description of this behaviour.
    WITHOUT_EFFECT = {
      oncpu: [[true], "only CPU time is profiled"],
      on_cpu: [[true], "only CPU time is profiled"],
      detect_subprocesses: [[true, false], "forked children are profiled, other programs are not"],
      compression: [["gzip"], "profiles are compressed with gzip"],
      report_encoding: [["pprof"], "profiles are written as pprof"]
    }.freeze

    CREDENTIALS = %i[basic_auth_username basic_auth_password].freeze

    DEFAULTS.each do |name, default|
      # If the program adds to a default Hash, the Hash becomes the option's value.
      define_method(name) { @given.fetch(name) { default.is_a?(Hash) ? @given[name] = {} : default } }
      define_method(:"#{name}=") { |value| self[name] = value }
    end

    def initialize
      @given = {}
    end

    # @param name [Symbol, String] name of an option
    # @return [Object] its value
    def [](name)
      public_send(name)
    end

    # @param name [Symbol, String] name of an option
    # @param value [Object]
    def []=(name, value)
      @given[name.to_sym] = value
    end

    # @return [Array<Symbol>] the names of the options; the method exists because a Struct has it
    def self.members
      DEFAULTS.keys
    end

    # @return [Array<Symbol>]
    def members
      self.class.members
    end

    # @return [Array<Object>] every option's value, in the order of {members}
    def to_a
      to_h.values_at(*members)
    end
    alias values to_a

    # @return [Hash{Symbol => Object}] every option with its value
    def to_h
      DEFAULTS.merge(@given)
    end

    # The options that the program has set. Values nil, "" and {} count as not set, as in all
    # versions of the gem pyroscope. The default server address is added unless the environment has
    # an address.
    # @return [Hash{Symbol => Object}] for {Spanprof.start}
    # @api private
    def options
      options = given.except(*WITHOUT_EFFECT.keys)
      options.delete(:application_name) if options.key?(:app_name)
      options[:log_level] = DEFAULTS[:log_level] unless level?
      options[:tags] = pairs(options[:tags]) if options.key?(:tags)
      options[:autoinstrument_rails] = !!options[:autoinstrument_rails] if options.key?(:autoinstrument_rails)
      options = options.except(*CREDENTIALS) unless credentials == CREDENTIALS
      options[:server_address] = server_address unless server_address_elsewhere?
      options = { clean_label_names: true, dotted_label_names: true }.merge(options)
      options.transform_keys { |name| NAMES.fetch(name, name) }
    end

    # @return [Hash{Symbol => Symbol}] the program's names of the options of {Spanprof.start}
    # @api private
    def names
      names = NAMES.reject { |_, option| given.key?(option) }
      given.key?(:app_name) ? names.merge(app_name: :application_name).invert : names.except(:app_name).invert
    end

    # @return [Array<String>] a sentence for each option without effect
    # @api private
    def remarks
      remarks = given.slice(*WITHOUT_EFFECT.keys).filter_map do |name, value|
        silent, reason = WITHOUT_EFFECT[name]
        "#{name} = #{value.inspect} has no effect: #{reason}" unless silent.include?(value)
      end
      missing = CREDENTIALS - credentials
      remarks << "#{credentials.first} has no effect without #{missing.first}" if missing.size == 1
      remarks << "log_level = #{log_level.inspect} is not a level: \"error\" is used" unless level?
      remarks
    end

    private

    def given
      @given.reject { |_, value| value.nil? || (value.respond_to?(:empty?) && value.empty?) }
    end

    # Returns whether log_level is valid. An invalid level counts as "error".
    def level?
      Spanprof::Options.level(given)
      true
    rescue Spanprof::Error
      false
    end

    # Tags may be a list of pairs. Tags without a value are dropped.
    def pairs(tags)
      tags = tags.to_h if tags.is_a?(Array) && tags.all? { |pair| pair.is_a?(Array) && pair.size == 2 }
      tags.is_a?(Hash) ? tags.compact : tags
    end

    def credentials
      CREDENTIALS & given.keys
    end

    def server_address_elsewhere?
      @given.key?(:server_address) || ENV.fetch("PYROSCOPE_SERVER_ADDRESS", "") != ""
    end

    # Accepts the options of {Spanprof.start} that the gem pyroscope does not have. An option can be
    # read after it was set.
    def method_missing(name, *arguments)
      return super unless respond_to_missing?(name) && arguments.size == (name.end_with?("=") ? 1 : 0)

      name.end_with?("=") ? self[name.name.delete_suffix("=")] = arguments.first : @given[name]
    end

    def respond_to_missing?(name, include_private = false)
      name.end_with?("=") || @given.key?(name) || super
    end
  end
end
