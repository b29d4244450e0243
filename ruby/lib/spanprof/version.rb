# frozen_string_literal: true

module Spanprof
  VERSION = "0.1.0"
end
