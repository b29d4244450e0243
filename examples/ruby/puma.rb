# frozen_string_literal: true

# Puma's master process loads the application before it forks the workers.
workers 2
threads 4, 4
preload_app!
on_worker_shutdown { OpenTelemetry.tracer_provider.shutdown }
bind "tcp://127.0.0.1:#{ENV.fetch("PORT", "9292")}"
