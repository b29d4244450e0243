# frozen_string_literal: true

require_relative "load_watch"

module Spanprof
  # Labels for what frameworks do: `action` for a request of Rails, `job` for a
  # job of ActiveJob or Sidekiq, whether they are loaded before a session starts
  # or after it.
  # @api private
  module Instrument
    # Middleware of Sidekiq's server: (job instance, payload, queue).
    class SidekiqMiddleware
      def call(_instance, payload, _queue, &job)
        Instrument.label(:job, job) { payload["wrapped"] || payload["class"] }
      end
    end

    # By module: its gem, what it answers to once it is of use, and our method.
    FRAMEWORKS = {
      "ActiveSupport" => ["activesupport", :on_load, :rails],
      "Sidekiq" => ["sidekiq", :configure_server, :sidekiq]
    }.freeze

    @labelled = {}

    class << self
      # Whether the session that runs wants these labels.
      attr_accessor :wanted

      # @param work [Proc] that is labelled by what the block says
      def label(name, work)
        @wanted ? Spanprof.label(name => yield, &work) : work.call
      end

      # Idempotent.
      def install
        FRAMEWORKS.each do |name, (gem, method, label)|
          next if @labelled[name] || !LoadWatch.comes?(name, gem)

          @labelled[name] = true
          LoadWatch.await(name, method) { send(label) }
        end
      rescue StandardError => e
        Logging.say_once(:warn, "requests and jobs get no labels: #{e.message}")
      end

      private

      # Called now for what is loaded already, else when it is; :action_controller
      # comes for ActionController::Base and for ActionController::API.
      def rails
        ::ActiveSupport.on_load(:action_controller) do
          around_action { |controller, action| Instrument.label(:action, action) { Instrument.action(controller) } }
        end
        ::ActiveSupport.on_load(:active_job) do
          around_perform { |job, perform| Instrument.label(:job, perform) { job.class.name } }
        end
        # An application has all that it uses by then.
        ::ActiveSupport.on_load(:after_initialize) { LoadWatch.forget("Sidekiq") }
      end

      def sidekiq
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
