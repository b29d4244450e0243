# frozen_string_literal: true

require "prefork"

# SIGTERM, which stops containers and systemd units. Ruby's own handler raises an exception, and the
# program exits as after any other exception.
class SigtermTest < PreforkTest
  BURN_S = 1.0

  START = <<~'RUBY'
    require "spanprof"
    Spanprof.start(log_level: :off)
  RUBY

  STATES = {
    "idle" => "sleep",
    "busy" => "burn 600",
    "waiting for a thread" => "Thread.new { sleep }.join",
    "with busy threads" => "3.times { Thread.new { burn 600 } }; sleep",
    "given the signal's default action by Ruby" => "trap('TERM', 'DEFAULT'); sleep"
  }.freeze

  # Code that sends the signal to the program 0.3 s later.
  KILL = "Thread.new { sleep 0.3; Process.kill('TERM', $$) }"

  def assert_handed_on(result)
    found = samples.select { |sample| sample.in?(/\bburn\z/) }
    assert_operator seconds(found), :>=, BURN_S - 0.1, result.err
  end

  def test_the_last_samples_are_delivered
    STATES.each do |name, code|
      FileUtils.rm_rf(@profiles)
      result = child("#{START}burn #{BURN_S}\n#{KILL}\n#{code}")
      assert_includes [15, 128 + 15], result.status.termsig || result.status.exitstatus, "#{name}: #{result.err}"
      assert_handed_on(result)
    end
  end

  # If Ruby has no handler for SIGTERM, flush_on_sigterm installs the core's handler.
  def test_the_systems_default_action
    start = "trap('TERM', 'SYSTEM_DEFAULT')\nrequire 'spanprof'\nSpanprof.start(flush_on_sigterm: true)\n"
    result = child("#{start}burn #{BURN_S}\n#{KILL}\nsleep")
    assert_includes [15, 128 + 15], result.status.termsig || result.status.exitstatus, result.err
    assert_handed_on(result)
  end

  # AWS Lambda freezes a process and later kills it without SIGTERM. So the test stops and kills a
  # process after a flush.
  def test_a_process_frozen_after_a_flush
    result = child(<<~RUBY)
      #{START}
      Process.fork do
        frozen = Process.ppid
        sleep 0.05 until File.read("/proc/\#{frozen}/stat").include?(") T ")
        Process.kill("KILL", frozen)
      end
      2.times { burn #{BURN_S / 2}; raise "late" unless Spanprof.flush(timeout: 10) }
      Process.kill("STOP", $$)
    RUBY
    assert_handed_on(result)
  end

  # A program that is the first process of a container. Ruby has its handler for SIGTERM there, too.
  def test_the_first_process_of_a_container
    namespace = %w[unshare --pid --fork --mount-proc --kill-child]
    skip "no namespace of processes can be made here" unless system(*namespace, "true", %i[out err] => File::NULL)

    path = program("program", "#{START}raise unless $$ == 1\nburn #{BURN_S}\n#{KILL}\nsleep")
    assert_handed_on(run_command(*namespace, RbConfig.ruby, path))
  end

  # @param busy [Boolean] whether requests are running when the signal arrives
  def puma(options, workers, busy: false)
    FileUtils.rm_rf(@profiles)
    File.write("#{@directory}/config.ru", rackup(START))
    File.write("#{@directory}/puma.rb", "threads 2, 4\nbind 'tcp://127.0.0.1:#{port = free_port}'\n#{options}")
    burnt = nil
    serve("puma", "-C", "puma.rb") do
      burnt = requests(port, workers: workers)
      4.times { Thread.new { Net::HTTP.get(URI("http://127.0.0.1:#{port}/")) rescue nil } } if busy
    end
    burnt.each do |pid, seconds|
      inside = seconds(samples(pid).select { |sample| sample.in?(/\bburn\z/) })
      assert_operator inside, :>=, (0.9 * seconds) - 0.05, "worker #{pid}"
    end
  end

  def test_puma
    [false, true].each { |busy| puma("", 1, busy: busy) }
  end

  def test_workers_of_puma
    [false, true].each { |busy| puma("workers 2\npreload_app!", 2, busy: busy) }
  end
end
