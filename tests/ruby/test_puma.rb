# frozen_string_literal: true

require "prefork"

# Puma in cluster mode.
class PumaTest < PreforkTest
  def puma(start, options = "preload_app!", **arguments)
    File.write("#{@directory}/config.ru", rackup(start))
    File.write("#{@directory}/puma.rb", <<~RUBY)
      workers 2
      threads 2, 4
      bind "tcp://127.0.0.1:#{port = free_port}"
      #{options}
    RUBY
    burnt = nil
    log = serve("puma", "-C", "puma.rb", **arguments) { burnt = requests(port) }
    [burnt, log]
  end

  def test_workers_of_a_preloaded_application
    burnt, log = puma(START)
    assert_profiled(burnt)
    refute_match(/Thread\(s\) started in app boot/, log)
  end

  def test_workers_that_configure_again
    burnt, = puma(START, "preload_app!\non_worker_boot { #{AGAIN} }")
    assert_profiled(burnt)
  end

  def test_workers_of_an_application_that_is_not_preloaded
    burnt, = puma(START, "")
    assert_profiled(burnt)
  end
end
