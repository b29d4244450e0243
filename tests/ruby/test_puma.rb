# frozen_string_literal: true

require "json"

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

  BLOCKS = 50
  BLOCK_S = 0.4

  # Each request burns CPU time in a block of Spanprof.profile. With "?thread", a thread that the
  # block starts burns half of the time. Each block waits until all blocks have begun.
  PROFILED_REQUESTS = <<~RUBY
    #{PRELUDE}
    require "json"
    require "spanprof"
    raise unless Spanprof.start

    def measured_burn(seconds)
      began_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
      burn seconds
      Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - began_s
    end

    open = 0
    run(lambda do |env|
      threads = env["QUERY_STRING"] == "thread" ? 1 : 0
      true_s = 0.0
      profile = Spanprof.profile do
        open += 1
        sleep 0.01 until open == #{BLOCKS}
        others = Array.new(threads) { Thread.new { measured_burn #{BLOCK_S / 2} } }
        true_s = measured_burn(threads.zero? ? #{BLOCK_S} : #{BLOCK_S / 2}) + others.sum(&:value)
      end
      answer = { true_s: true_s, profiled_s: profile.top(0).sum(&:self_s), threads: threads + 1,
                 reason: profile.unavailable_reason, running: Spanprof.running? }
      [200, { "content-type" => "application/json" }, [JSON.generate(answer)]]
    end)
  RUBY

  def test_concurrent_profiles_during_a_session
    File.write("#{@directory}/config.ru", PROFILED_REQUESTS)
    blocks = nil
    serve("puma", "--threads", "#{BLOCKS}:#{BLOCKS}", "--bind", "tcp://127.0.0.1:#{port = free_port}") do
      blocks = Array.new(BLOCKS) { |i| Thread.new { answer(port, i.odd? ? "/?thread" : "/") } }.map(&:value)
    end
    blocks.each do |block|
      assert_equal [nil, true], block.values_at(:reason, :running)
      assert_in_delta block[:true_s], block[:profiled_s], noise_s(block[:true_s], stretches: block[:threads])
    end
    true_s, profiled_s, threads = %i[true_s profiled_s threads].map { |name| blocks.sum { |block| block[name] } }
    allowed_s = noise_s(true_s, stretches: threads)
    ratios = blocks.map { |block| block[:profiled_s] / block[:true_s] }
    figures = { blocks: BLOCKS, mean: ratios.sum / BLOCKS, least: ratios.min, most: ratios.max,
                allowed: allowed_s / true_s }
    puts format("%<blocks>d blocks: profiled / true CPU time %<mean>.4f on average, %<least>.2f to %<most>.2f, " \
                "at most %<allowed>.3f from 1 by chance", figures)
    assert_in_delta true_s, profiled_s, allowed_s
  end

  def answer(port, path)
    http = Net::HTTP.new("127.0.0.1", port)
    http.read_timeout = LIMIT_S
    JSON.parse(http.get(path).body, symbolize_names: true)
  rescue Errno::ECONNREFUSED
    sleep 0.05
    retry
  end
end
