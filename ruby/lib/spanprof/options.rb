# frozen_string_literal: true

module Spanprof
  # Ruby's ways of writing an option, in the core's terms.
  # @api private
  module Options
    LEVELS = { "trace" => 0, "debug" => 0, "info" => 1, "warn" => 2, "warning" => 2, "error" => 3, "off" => 4 }.freeze

    # Those that are not the core's.
    RUBY = %i[logger autoinstrument_rails].freeze

    class << self
      # @param options [Hash{Symbol => Object}] of {Spanprof.start}
      # @return [Hash{Symbol => Object}] for Native.start, which checks the values
      # @raise [Spanprof::Error] one sentence that names the option
      def native(options)
        options.except(*RUBY).to_h { |name, value| [name, convert(name, value)] }
      end

      # @return [Integer, nil] what PYROSCOPE_LOG_LEVEL says; the core refuses
      #   what is not a level
      def environment_level
        LEVELS[ENV["PYROSCOPE_LOG_LEVEL"]&.downcase]
      end

      private

      def convert(name, value)
        case [name, value]
        in :labels, Hash then texts(value)
        in :http_headers, Hash then json(texts(value))
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
