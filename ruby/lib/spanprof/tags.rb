# frozen_string_literal: true

module Spanprof
  # Labels that are set without a block, as by the gem pyroscope.
  # @api private
  module Tags
    class << self
      def wrap(tags, &block)
        Spanprof.label(tags, &block)
      end

      # Logs that a label has no block.
      # @return [nil]
      def no_block
        Logging.log_once(:warn, "labels without a block have no effect: give a block")
        nil
      end

      # @return [Hash] the labels of {Spanprof.label}: those in a Hash and the keyword arguments
      def with(labels, more)
        hash?(more) ? more.merge(labels) : labels
      end

      def add(*arguments)
        each(arguments) { |name, value| Native.tag_add(name, value) }
      end

      def remove(*arguments)
        each(arguments) { |name, value| Native.tag_remove(name, value) }
      end

      # @return [Integer] a number that identifies the calling thread; the kernel's thread id if
      #   Ruby provides it
      def thread_id
        thread = Thread.current
        thread.respond_to?(:native_thread_id) ? thread.native_thread_id : thread.object_id
      end

      private

      # @param arguments [Array] tags, or a result of {thread_id} and tags
      def each(arguments)
        *thread, tags = arguments
        return if LOAD_ERROR || !hash?(tags) || !own?(thread)

        tags.each { |name, value| yield name, value }
        nil
      end

      def hash?(tags)
        return true if tags.is_a?(Hash)

        Logging.log_once(:warn, "labels must be a Hash, not a value of class #{tags.class}")
        false
      end

      def own?(thread)
        return true if thread.empty? || thread.first == thread_id

        Logging.log_once(:warn, "a thread can set only its own tags: those of another thread stay unchanged")
        false
      end
    end
  end
end
