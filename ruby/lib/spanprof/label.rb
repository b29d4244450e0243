# frozen_string_literal: true

require_relative "text"

module Spanprof
  class << self
    # Label what the block does, in this fiber and in the enumerators it calls.
    # An inner label hides an outer one of the same name.
    #
    # @example
    #   Spanprof.label(tenant: "acme") { render }
    # @param labels [Hash{Symbol, String => Object}] names, and values by their to_s; what the server would not take is
    #   cleaned and counted
    # @param more [Hash] the same, for names that are in a Hash
    # @return [Object] what the block returns
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
