# frozen_string_literal: true

require "rails/railtie"

require_relative "../spanprof"
require_relative "rails_process"

module Spanprof
  # Profiles the servers and workers of a Rails application:
  #
  #   # config/initializers/spanprof.rb, which `rails g spanprof:install` writes
  #   Rails.application.config.spanprof.server_address = "http://localhost:4040"
  #
  # `config.spanprof` takes every option of {Spanprof.start} and `enabled`: true
  # also profiles consoles, rake, generators, asset builds and tests; false
  # nothing.
  class Railtie < ::Rails::Railtie
    config.spanprof = ActiveSupport::OrderedOptions.new

    # Before the controllers are loaded: callbacks of theirs then run inside of
    # the label.
    initializer "spanprof.labels", after: :load_config_initializers do |app|
      options = app.config.spanprof
      Instrument.install unless options.autoinstrument_rails == false || Start.refusal(options)
    end

    # Starts a session where the application has not done so itself, for its
    # name and the spans of its OpenTelemetry SDK.
    # @api private
    module Start
      SWITCH = "PYROSCOPE_AGENT_ENABLED"
      ON = %w[1 true yes on].freeze
      # Without one of these profiles would go nowhere.
      DESTINATIONS = { server_address: "PYROSCOPE_SERVER_ADDRESS", output_directory: "PYROSCOPE_OUTPUT_DIRECTORY" }.freeze

      NAMES = {
        "PYROSCOPE_APPLICATION_NAME" => /./, "OTEL_SERVICE_NAME" => /./, "OTEL_RESOURCE_ATTRIBUTES" => /\bservice\.name=/
      }.freeze

      class << self
        def run(app)
          return if Session.asked?

          options = app.config.spanprof
          reason = refusal(options)
          return Session.decline(reason) if reason

          Session.start(name(app).merge(options.to_h.compact.except(:enabled)))
          Otel::ProviderHook.install if Session.running? && defined?(::OpenTelemetry::SDK)
        end

        # @return [String, nil] why this process is not profiled; nil: it is
        def refusal(options)
          return "config.spanprof.enabled is false" if options.enabled == false
          return if options.enabled || ON.include?(ENV[SWITCH]&.downcase)

          purpose = RailsProcess.purpose
          return "this is #{purpose}, profiled only where config.spanprof.enabled is true" if purpose
          return if DESTINATIONS.any? { |option, variable| options[option] || ENV[variable].to_s != "" }

          "neither config.spanprof.server_address nor #{DESTINATIONS[:server_address]} is set"
        end

        private

        # Where the environment has none. Spans have a name of their own, by
        # which their profiles are found.
        def name(app)
          return {} if defined?(::OpenTelemetry::SDK) || NAMES.any? { |variable, form| form.match?(ENV.fetch(variable, "")) }

          { application_name: app.class.name.underscore.delete_suffix("/application") }
        end
      end
    end

    # The last of all initializers: YJIT, which Rails enables after
    # after_initialize, is there.
    ::Rails::Application::Finisher.initializer("spanprof.start") { |app| Start.run(app) }
  end
end
