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
  # `config.spanprof` has all options of {Spanprof.start} and `enabled`. With true, consoles, rake,
  # generators, asset builds and tests are profiled, too; with false, nothing is profiled.
  class Railtie < ::Rails::Railtie
    config.spanprof = ActiveSupport::OrderedOptions.new

    # Runs before the controllers are loaded, so that their callbacks run inside the label.
    initializer "spanprof.labels", after: :load_config_initializers do |app|
      options = app.config.spanprof
      Instrument.install unless options.autoinstrument_rails == false || Start.refusal(options)
    end

    # Starts a session if the application has not done so, with the application's name and the spans
    # of its OpenTelemetry SDK.
    # @api private
    module Start
      SWITCH = "PYROSCOPE_AGENT_ENABLED"
      ON = %w[1 true yes on].freeze
      # Without one of these options, profiles have no destination.
      DESTINATIONS = { server_address: "PYROSCOPE_SERVER_ADDRESS", output_directory: "PYROSCOPE_OUTPUT_DIRECTORY" }.freeze

      NAMES = {
        "PYROSCOPE_APPLICATION_NAME" => /./, "OTEL_SERVICE_NAME" => /./, "OTEL_RESOURCE_ATTRIBUTES" => /\bservice\.name=/
      }.freeze

      class << self
        def run(app)
          return if Session.requested?

          options = app.config.spanprof
          reason = refusal(options)
          return Session.decline(reason) if reason

          Session.start(name(app).merge(options.to_h.compact.except(:enabled)))
          Otel::ProviderHook.install if Session.running? && defined?(::OpenTelemetry::SDK)
        end

        # @return [String, nil] the reason if this process is not profiled
        def refusal(options)
          return "config.spanprof.enabled is false" if options.enabled == false
          return if options.enabled || ON.include?(ENV[SWITCH]&.downcase)

          purpose = RailsProcess.purpose
          return "this is #{purpose}, which is profiled only if config.spanprof.enabled is true" if purpose
          return if DESTINATIONS.any? { |option, variable| options[option] || ENV[variable].to_s != "" }

          "neither config.spanprof.server_address nor #{DESTINATIONS[:server_address]} is set"
        end

        private

        # The application's name, unless the environment has one. Spans have a service name of their
        # own, by which their profiles are found.
        def name(app)
          return {} if defined?(::OpenTelemetry::SDK) || NAMES.any? { |variable, form| form.match?(ENV.fetch(variable, "")) }

          { application_name: app.class.name.underscore.delete_suffix("/application") }
        end
      end
    end

    # This is the last initializer: Rails has enabled YJIT, which it does after after_initialize.
    ::Rails::Application::Finisher.initializer("spanprof.start") { |app| Start.run(app) }
  end
end
