# frozen_string_literal: true

module Spanprof
  # The options that the block of {Spanprof.configure} sets.
  Configuration = Struct.new(*Options::NAMES) do
    # @return [String] a text without the values of the options, because some are secret
    def inspect
      "#<#{self.class}>"
    end
    alias_method :to_s, :inspect
  end
end
