# frozen_string_literal: true

require_relative "spanprof"
require_relative "pyroscope/config"

# The interface of the gem pyroscope, of every generation of it, on top of
# {Spanprof}. Nothing here raises into the program.
module Pyroscope
  VERSION = Spanprof::VERSION

  autoload :Otel, File.expand_path("pyroscope/otel.rb", __dir__)

  class << self
    # @return [Pyroscope::Config, nil] what the last {configure} was given
    def current_config
      @config
    end

    # Profile this process as the block says; may be called again at any time,
    # also in a forked worker, and then takes the place of what was.
    # @yieldparam config [Pyroscope::Config]
    # @return [Boolean] whether it profiles; if not, the log says why
    # @raise [Spanprof::Error] only with SPANPROF_REQUIRED=1
    def configure
      @config = Config.new
      yield @config
      @config.remarks.each { |remark| Spanprof::Logging.say_once(:warn, remark) }
      Spanprof::Session.start(@config.options, @config.names)
    end

    # Label what the block does on this thread or fiber.
    # @param tags [Hash{#to_s => #to_s}]
    # @return [Object] what the block returns
    def tag_wrapper(tags, &block)
      Spanprof::Tags.wrap(tags, &block)
    end

    # Label what this thread or fiber does from now on.
    # @overload _add_tags(tags)
    # @overload _add_tags(thread_id, tags)
    #   @param thread_id [Integer] {thread_id}; the gem's 0.x wants it
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

    # @return [Integer] a number of the calling thread
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

    # Label requests and jobs; done by {configure}, unless autoinstrument_rails
    # is off.
    # @return [void]
    def initialize_rails_hooks
      Spanprof::Instrument.install
    end

    # Stop profiling and hand on what there is, within 2 seconds.
    # @return [Boolean] whether something ran
    def stop
      !Spanprof.stop.nil?
    end

    # @return [Boolean] as {stop}
    def shutdown
      stop
    end

    # @return [Boolean] as {stop}, its name in 0.3
    def drop
      stop
    end
  end
end
