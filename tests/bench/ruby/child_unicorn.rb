# frozen_string_literal: true

worker_processes 2
preload_app true
listen "127.0.0.1:#{ENV.fetch("BENCH_PORT")}"
