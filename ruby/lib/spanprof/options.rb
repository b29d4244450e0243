# frozen_string_literal: true

module Spanprof
  # Ruby's ways of writing an option, in the core's terms.
  # @api private
  module Options
    LEVELS = { "trace" => 0, "debug" => 0, "info" => 1, "warn" => 2, "warning" => 2, "error" => 3, "off" => 4 }.freeze

    # Those that are not the core's.
    RUBY = %i[logger autoinstrument_rails].freeze

    # All of them. tests/package/option_lists.py writes the names of the core's.
    NAMES = (%i[
      application_name labels resource_labels clean_label_names dotted_label_names sample_rate_hz signal_number
      native_frames full_native_stacks registered_threads_only stack_depth_max window_max_bytes report_pid
      report_thread_id report_thread_name server_address basic_auth_user basic_auth_password auth_token tenant_id
      http_headers ca_bundle client_cert client_key proxy no_proxy upload_protocol upload_interval_ms queue_bytes
      output_directory output_max_bytes output_max_age_s spool_directory spool_max_bytes spool_max_age_s span_names_max
      label_values_max log_level flush_on_sigterm
    ] + RUBY).freeze

    class << self
      # @param options [Hash{Symbol => Object}] of {Spanprof.start}
      # @return [Hash{Symbol => Object}] for Native.start, which checks the values
      # @raise [Spanprof::Error, ArgumentError] one sentence that names the option
      def native(options)
        check_names(options.keys, NAMES)
        check_own(options)
        options.except(*RUBY).to_h { |name, value| [name, convert(name, value)] }
      end

      # @param names [Array<Symbol, String>]
      # @param known [Array<Symbol>]
      # @raise [ArgumentError] one of the names is not known; the sentence has the nearest one
      def check_names(names, known)
        unknown = names.map(&:to_s) - known.map(&:name)
        return if unknown.empty?

        near = Native.nearest([unknown.first, *known.map(&:name)]) unless LOAD_ERROR
        raise ArgumentError, "there is no option #{unknown.first.inspect}#{"; did you mean #{near}?" if near}"
      end

      # @return [Integer, nil] what PYROSCOPE_LOG_LEVEL says; the core refuses
      #   what is not a level
      def environment_level
        LEVELS[ENV["PYROSCOPE_LOG_LEVEL"]&.downcase]
      end

      private

      def check_own(options)
        case options
        in { autoinstrument_rails: value } unless [true, false, nil].include?(value)
          raise Error, "autoinstrument_rails must be true or false, not a value of class #{value.class}"
        in { logger: logger } unless logger.nil? || Logging::LEVELS.any? { |level| logger.respond_to?(level) }
          raise Error, "logger has none of the methods debug, info, warn and error: it is of class #{logger.class}"
        else nil
        end
      end

      def convert(name, value)
        case [name, value]
        in :labels, Hash then texts(value)
        in :http_headers, Hash then json(texts(value))
        in :labels | :http_headers, Object unless value.nil? || value.is_a?(String)
          raise Error, "#{name} must be a Hash or a String, not a value of class #{value.class}"
        in :log_level, Symbol | String then level(value)
        in _, Symbol then value.name
        else plain(value)
        end
      end

      # URI and Pathname say what they are.
      def plain(value)
        return value.to_path if value.respond_to?(:to_path)

        defined?(::URI::Generic) && value.is_a?(::URI::Generic) ? value.to_s : value
      end

      def texts(hash)
        hash.to_h { |name, value| [name.to_s, value.to_s] }
      end

      # The core reads a JSON object, where values may hold anything.
      def json(headers)
        require "json"
        JSON.generate(headers)
      rescue JSON::GeneratorError, EncodingError => e
        raise Error, "http_headers cannot be written as JSON: #{e.message}"
      end

      def level(value)
        LEVELS.fetch(value.to_s.downcase) do
          raise Error, "log_level is #{value.inspect}, not debug, info, warn, error or off"
        end
      end
    end
  end
end
