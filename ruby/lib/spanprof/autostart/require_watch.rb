# frozen_string_literal: true

module Spanprof
  module Autostart
    # Learns when the program has loaded what we have something to add to.
    module RequireWatch
      # By the names under which the libraries themselves, too, load these files.
      FILES = {
        "opentelemetry/sdk" => -> { Spans.follow },
        "active_support/lazy_load_hooks" => -> { Session.instrument },
        "sidekiq" => -> { Session.instrument }
      }.freeze

      class << self
        # By an alias, like RubyGems, bootsnap and zeitwerk do: an alias of a
        # prepended method calls itself for ever.
        def install
          FILES.each_value(&:call)
          Kernel.module_eval do
            alias_method :spanprof_original_require, :require
            private :spanprof_original_require

            def require(path)
              loaded = spanprof_original_require(path)
              RequireWatch::FILES[path]&.call if loaded
              loaded
            end
            private :require
          end
        end
      end
    end
  end
end
