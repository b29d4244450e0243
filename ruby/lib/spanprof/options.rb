# frozen_string_literal: true

module Spanprof
  # The options of {Spanprof.start}. The C code converts and checks their values,
  # except those of {RUBY}.
  # @api private
  module Options
    # Options that only this gem has; the core does not know them.
    RUBY = %i[logger autoinstrument_rails].freeze

    # All options. tests/package/option_lists.py generates the names of the core's options.
    NAMES = (%i[
      application_name labels resource_labels clean_label_names dotted_label_names sample_rate_hz signal_number
      native_frames registered_threads_only stack_depth_max window_max_bytes report_pid report_thread_id
      report_thread_name server_address basic_auth_user basic_auth_password auth_token tenant_id http_headers ca_bundle
      client_cert client_key proxy no_proxy upload_protocol upload_interval_ms queue_bytes output_directory
      output_max_bytes output_max_age_s spool_directory spool_max_bytes spool_max_age_s span_names_max label_values_max
      log_level flush_on_sigterm
    ] + RUBY).freeze

    class << self
      # @param names [Array<Symbol, String>]
      # @param known [Array<Symbol>]
      # @raise [ArgumentError] a name is unknown; the message suggests the most similar one
      def check_names(names, known)
        unknown = names.map(&:to_s) - known.map(&:name)
        return if unknown.empty?

        near = Native.nearest([unknown.first, *known]) unless LOAD_ERROR
        raise ArgumentError, "there is no option #{unknown.first.inspect}#{"; did you mean #{near}?" if near}"
      end

      # @param options [Hash{Symbol => Object}]
      # @raise [Spanprof::Error] the value of one of {RUBY} is wrong
      def check_own(options)
        case options
        in { autoinstrument_rails: value } unless [true, false, nil].include?(value)
          raise Error, "autoinstrument_rails must be true or false, not a value of class #{value.class}"
        in { logger: logger } unless logger.nil? || Logging::LEVELS.any? { |level| logger.respond_to?(level) }
          raise Error, "logger has none of the methods debug, info, warn and error: it is of class #{logger.class}"
        else nil
        end
      end

      # @param options [Hash{Symbol => Object}]
      # @return [Integer, nil] the least severe level to log, from the options or
      #   PYROSCOPE_LOG_LEVEL
      # @raise [Spanprof::Error] the option is not a level
      def level(options)
        Native.level(options.slice(:log_level)) unless LOAD_ERROR
      end
    end
  end
end
