# frozen_string_literal: true

require_relative "load_watch"

module Spanprof
  # Labels the work of frameworks: `action` for a request of Rails, `job` for a job of ActiveJob or
  # Sidekiq. The frameworks may be loaded before or after the start of a session.
  # @api private
  module Instrument
    # Middleware of Sidekiq's server. Sidekiq passes the job's instance, its payload and the name of
    # the queue.
    class SidekiqMiddleware
      def call(_instance, payload, _queue, &job)
        Instrument.label(:job, job) { payload["wrapped"] || payload["class"] }
      end
    end

    # For each module of a framework: the name of its gem, a method that the module has when it is
    # ready for use, and the method below that labels the framework's work.
    FRAMEWORKS = {
      "ActiveSupport" => ["activesupport", :on_load, :rails],
      "Sidekiq" => ["sidekiq", :configure_server, :sidekiq]
    }.freeze

    @labelled = {}

    class << self
      # @return [Boolean] whether the running session has the labels `action` and `job`
      attr_accessor :enabled

      # Run `work` with a label whose value the block returns.
      # @param work [Proc]
      def label(name, work)
        @enabled ? Spanprof.label(name => yield, &work) : work.call
      end

      # Idempotent.
      def install
        FRAMEWORKS.each do |name, (gem, method, label)|
          next if @labelled[name] || !LoadWatch.expected?(name, gem)

          @labelled[name] = true
          LoadWatch.await(name, method) { send(label) }
        end
      rescue StandardError => e
        Logging.log_once(:warn, "requests and jobs get no labels: #{e.message}")
      end

      private

      # Set hooks of ActiveSupport. A hook runs now if its library is already loaded, otherwise when
      # the library is loaded. The hook :action_controller runs for ActionController::Base and for
      # ActionController::API.
      def rails
        ::ActiveSupport.on_load(:action_controller) do
          around_action { |controller, action| Instrument.label(:action, action) { Instrument.action(controller) } }
        end
        ::ActiveSupport.on_load(:active_job) do
          around_perform { |job, perform| Instrument.label(:job, perform) { job.class.name } }
        end
        # After the initialization, the application has loaded all its libraries, so Sidekiq will
        # not be loaded any more.
        ::ActiveSupport.on_load(:after_initialize) { LoadWatch.forget("Sidekiq") }
      end

      def sidekiq
        ::Sidekiq.configure_server do |config|
          config.server_middleware { |chain| chain.add(SidekiqMiddleware) }
        end
      end
    end

    # @return [String] the label of a request, in the format of the gem pyroscope
    def self.action(controller)
      "#{controller.controller_name}/#{controller.action_name}"
    end
  end
end
