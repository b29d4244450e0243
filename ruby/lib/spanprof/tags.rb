# frozen_string_literal: true

module Spanprof
  # Labels without a block, as the gem pyroscope sets them.
  # @api private
  module Tags
    class << self
      def add(*arguments)
        each(arguments) { |name, value| Native.tag_add(name, value) }
      end

      def remove(*arguments)
        each(arguments) { |name, value| Native.tag_remove(name, value) }
      end

      private

      # @param arguments [Array] tags, or a thread's number and tags
      def each(arguments)
        *thread, tags = arguments
        return if LOAD_ERROR
        return other_thread unless thread.empty? || thread.first == Thread.current.native_thread_id

        tags.each { |name, value| yield name.to_s, value.to_s }
        nil
      rescue StandardError => e
        Logging.say_once(:warn, "a tag cannot be set: #{e.message}")
      end

      def other_thread
        Logging.say_once(:warn, "tags can only be set by the thread that is to carry them")
      end
    end
  end
end
