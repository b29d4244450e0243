# frozen_string_literal: true

module Spanprof
  # Labels for what frameworks do: `action` for a request of Rails, `job` for a
  # job of ActiveJob or Sidekiq, as far as ActiveSupport or Sidekiq are loaded
  # when a session starts.
  # @api private
  module Instrument
    # Middleware of Sidekiq's server: (job instance, payload, queue).
    class SidekiqMiddleware
      def call(_instance, payload, _queue, &job)
        Spanprof.label(job: payload["wrapped"] || payload["class"], &job)
      end
    end

    class << self
      # Idempotent.
      def install
        rails if loaded?(:ActiveSupport) && ::ActiveSupport.respond_to?(:on_load)
        sidekiq if loaded?(:Sidekiq) && ::Sidekiq.respond_to?(:configure_server)
      rescue StandardError => e
        Logging.say_once(:warn, "requests and jobs get no labels: #{e.message}")
      end

      private

      # Not what would be loaded if we named it.
      def loaded?(name)
        Object.const_defined?(name) && !Object.autoload?(name)
      end

      # Called now for what is loaded already, else when it is; :action_controller
      # comes for ActionController::Base and for ActionController::API.
      def rails
        return if @rails

        @rails = true
        ::ActiveSupport.on_load(:action_controller) do
          around_action { |controller, action| Spanprof.label(action: Instrument.action(controller), &action) }
        end
        ::ActiveSupport.on_load(:active_job) do
          around_perform { |job, perform| Spanprof.label(job: job.class.name, &perform) }
        end
      end

      def sidekiq
        return if @sidekiq

        @sidekiq = true
        ::Sidekiq.configure_server do |config|
          config.server_middleware { |chain| chain.add(SidekiqMiddleware) }
        end
      end
    end

    # @return [String] as the gem pyroscope writes it
    def self.action(controller)
      "#{controller.controller_name}/#{controller.action_name}"
    end
  end
end
