# frozen_string_literal: true

require_relative "spanprof"
require_relative "pyroscope/config"

# The interface of all versions of the gem pyroscope, based on {Spanprof}. No method raises an
# exception into the program.
module Pyroscope
  VERSION = Spanprof::VERSION

  autoload :Otel, File.expand_path("pyroscope/otel.rb", __dir__)

  class << self
    # @return [Pyroscope::Config, nil] the configuration of the last {configure}
    def current_config
      @config
    end

    # Profile this process with the options of the block. May be called again at any time, also in a
    # forked worker; it then replaces the running session.
    # @yieldparam config [Pyroscope::Config]
    # @return [Boolean] whether the process is profiled; if not, the log has the reason
    # @raise [Spanprof::Error] only with SPANPROF_REQUIRED=1
    def configure
      @config = Config.new
      yield @config
      @config.remarks.each { |remark| Spanprof::Logging.log_once(:warn, remark) }
      Spanprof::Session.start(@config.options, @config.names)
    end

    # Label the samples of a block on this thread or fiber.
    # @param tags [Hash{#to_s => #to_s}]
    # @return [Object] the result of the block
    def tag_wrapper(tags, &block)
      Spanprof::Tags.wrap(tags, &block)
    end

    # Label the samples of this thread or fiber from now on.
    # @overload _add_tags(tags)
    # @overload _add_tags(thread_id, tags) @param thread_id [Integer] the result of {thread_id};
    #   versions 0.x of the gem pyroscope require it
    # @param tags [Hash{#to_s => #to_s}]
    # @return [void]
    def _add_tags(*arguments)
      Spanprof::Tags.add(*arguments)
    end

    # Undo {_add_tags} for those tags that still have these values.
    # @overload _remove_tags(tags)
    # @overload _remove_tags(thread_id, tags)
    # @return [void]
    def _remove_tags(*arguments)
      Spanprof::Tags.remove(*arguments)
    end

    # @return [Integer] a number that identifies the calling thread
    def thread_id
      Spanprof::Tags.thread_id
    end

    # @deprecated Use {tag_wrapper}.
    def tag(_tags)
      Spanprof::Logging.last_resort("Pyroscope.tag is deprecated. Use `Pyroscope.tag_wrapper` instead.")
    end

    # @deprecated Use {tag_wrapper}.
    def remove_tags(*_tags)
      Spanprof::Logging.last_resort("Pyroscope.remove_tags is deprecated. Use `Pyroscope.tag_wrapper` instead.")
    end

    # Label requests and jobs. {configure} does so unless autoinstrument_rails is off.
    # @return [void]
    def initialize_rails_hooks
      Spanprof::Instrument.install
    end

    # Stop profiling and deliver the remaining samples, within 2 seconds.
    # @return [Boolean] whether a session ran
    def stop
      !Spanprof.stop.nil?
    end

    # Does the same as {stop}.
    # @return [Boolean] whether a session ran
    def shutdown
      stop
    end

    # Does the same as {stop}, which had this name in version 0.3 of the gem pyroscope.
    # @return [Boolean] whether a session ran
    def drop
      stop
    end
  end
end
