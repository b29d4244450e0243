# frozen_string_literal: true

require_relative "text"

module Spanprof
  class << self
    # Label the samples of a block, in this fiber and in the enumerators that it calls. An inner
    # label hides an outer one of the same name.
    #
    # @example
    #   Spanprof.label(tenant: "acme") { render }
    # @param labels [Hash{Symbol, String => Object}] names and values of labels; the to_s of a value
    #   is used; characters that the server would refuse are replaced and counted
    # @param more [Hash] more labels, in a Hash
    # @return [Object] the result of the block
    def label(more = nil, **labels)
      return Tags.no_block unless block_given?
      return yield if LOAD_ERROR || !(before = Native.labels)

      labels = Tags.with(labels, more) if more
      begin
        labels.each { |name, value| Native.label_push(name, value) }
        yield
      ensure
        Native.labels_restore(before)
      end
    end
  end
end
