# frozen_string_literal: true

workers 2
threads 4, 4
preload_app!
bind "tcp://127.0.0.1:#{ENV.fetch("BENCH_PORT")}"
