# frozen_string_literal: true

module Spanprof
  # An application that started the profiler before its frameworks were loaded
  # (config/boot.rb, the environment) gets its labels when it has booted.
  # @api private
  class Railtie < ::Rails::Railtie
    config.after_initialize { Instrument.install if Session.running? && Session.autoinstrument }
  end
end
