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
  # `config.spanprof` has all options of {Spanprof.start} and `enabled`. If `enabled` is true,
  # consoles, rake, generators, asset builds and tests are profiled, too; if it is false, nothing is
  # profiled.
  class Railtie < ::Rails::Railtie
    config.spanprof = ActiveSupport::OrderedOptions.new

    # Runs before the controllers are loaded, so that the callbacks of controllers run inside the
    # label `action`.
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
      # The options that set a destination of profiles, and their environment variables. One of them
      # must be set.
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

        # Returns the option application_name with the application's name, or no option if the
        # environment has a name. With OpenTelemetry's SDK, profiles have the service name of the
        # spans instead, because a trace looks up its profiles by this name.
        def name(app)
          return {} if defined?(::OpenTelemetry::SDK) || NAMES.any? { |variable, form| form.match?(ENV.fetch(variable, "")) }

          { application_name: app.class.name.underscore.delete_suffix("/application") }
        end
      end
    end

    # This is the last initializer. Rails enables YJIT after the hooks of after_initialize, but
    # before this initializer.
    ::Rails::Application::Finisher.initializer("spanprof.start") { |app| Start.run(app) }
  end
end
