# frozen_string_literal: true

module Spanprof
  class << self
    # Label what the block does, in this fiber and in the enumerators it calls.
    # An inner label hides an outer one of the same name.
    #
    # @example
    #   Spanprof.label(tenant: "acme") { render }
    # @param labels [Hash{Symbol, String => Object}] names, and values by their to_s; what the server would not take is
    #   cleaned and counted
    # @return [Object] what the block returns
    def label(**labels)
      return yield if LOAD_ERROR

      token = push_labels(labels)
      begin
        yield
      ensure
        Native.label_pop(token) if token
      end
    end

    private

    # @return [Integer, nil] undoes all of them
    def push_labels(labels)
      first = nil
      labels.each do |name, value|
        token = Native.label_push(name, value)
        first ||= token unless token.zero?
      end
      first
    rescue StandardError, ScriptError => e
      Logging.failed_once(:warn, "a label cannot be set", e)
      first
    end
  end
end
