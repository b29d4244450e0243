# frozen_string_literal: true

module Spanprof
  # The options that the block of {Spanprof.configure} sets.
  Configuration = Struct.new(*Options::NAMES) do
    # @return [String] without the values, as some are secret
    def inspect
      "#<#{self.class}>"
    end
    alias_method :to_s, :inspect
  end
end
