# frozen_string_literal: true

module Spanprof
  module Autostart
    # Learns when the program has loaded what we have something to add to: when
    # the body of its module ends. Who wraps Kernel#require instead stands in the
    # backtrace of every file that is loaded.
    module LoadWatch
      # By the name of a module: what it answers to once it is of use, and what
      # is added then.
      AWAITED = {
        "OpenTelemetry::SDK" => [:configure, -> { Spans.follow }],
        "ActiveSupport" => [:on_load, -> { Session.instrument }],
        "Sidekiq" => [:configure_server, -> { Session.instrument }]
      }.freeze

      class << self
        def install
          @awaited = AWAITED.dup
          look
          @trace = TracePoint.new(:end) { look }
          @trace.enable unless @awaited.empty?
        end

        private

        def look
          @awaited.delete_if do |name, (method, added)|
            added.call if (found = loaded(name)&.respond_to?(method))
            found
          end
          @trace&.disable if @awaited.empty?
        rescue StandardError => e
          Logging.say_once(:warn, "what is loaded is not looked at: #{e.message}")
        end

        # Without loading anything (autoload).
        def loaded(name)
          name.split("::").reduce(Object) do |outer, inner|
            break if outer.autoload?(inner) || !outer.const_defined?(inner, false)

            outer.const_get(inner, false)
          end
        end
      end
    end
  end
end
