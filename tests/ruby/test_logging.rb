# frozen_string_literal: true

require "child"

# The destinations of log lines.
class LoggingTest < ChildTest
  # A logger that stores its lines.
  MEMORY = <<~'RUBY'
    require "logger"
    require "spanprof"
    LINES = []
    memory = Object.new
    %i[debug info warn error].each { |level| memory.define_singleton_method(level) { |line| LINES << [level, line] } }
    MEMORY = memory
  RUBY

  def test_lines_of_all_threads_are_logged_on_a_ruby_thread
    result = child!(MEMORY + <<~'RUBY', env: { "PYROSCOPE_SERVER_ADDRESS" => no_server })
      Spanprof.start(logger: MEMORY)
      burn 0.05
      Spanprof.flush(timeout: 1)
      sleep 0.01 until LINES.size >= 2
      puts LINES.map { |level, line| "#{level} #{line}" }
    RUBY
    assert_match(/\Ainfo spanprof: profiling "test" at 100 Hz with signal \d+, to http:/, result.out.lines[0])
    assert_match(/\Awarn spanprof: the upload to http:/, result.out.lines[1])
    assert_empty result.err
  end

  def test_the_logger_of_rails_is_used
    result = child!(<<~'RUBY')
      require "logger"
      module Rails
        def self.logger = @logger ||= Logger.new($stdout, formatter: ->(level, _, _, line) { "#{level} #{line}\n" })
      end
      require "spanprof"
      Spanprof.start
      Spanprof.start(sample_rate_hz: 0)
    RUBY
    assert_match(/^INFO spanprof: profiling "test"/, result.out)
    assert_match(/^WARN spanprof: profiling continues as before: sample_rate_hz/, result.out)
    assert_empty result.err
  end

  def test_without_a_logger_warnings_go_to_stderr
    result = child!(%(require "spanprof"; Spanprof.start), env: { "PYROSCOPE_OUTPUT_DIRECTORY" => "" })
    assert_match(/\Aspanprof: profiles are neither sent nor stored: [^\n]*\n\z/, result.err)
  end

  def test_the_level_of_the_options
    assert_match(/^spanprof: profiling "test"/, child!(%(require "spanprof"; Spanprof.start(log_level: :info))).err)
    assert_match(/^spanprof: profiling "test"/,
                 child!(%(require "spanprof"; Spanprof.start), env: { "PYROSCOPE_LOG_LEVEL" => "info" }).err)
    assert_empty child!(%(require "spanprof"; Spanprof.start(log_level: :off, output_directory: nil)),
                        env: { "PYROSCOPE_OUTPUT_DIRECTORY" => "" }).err
  end

  def test_a_logger_that_raises_loses_no_lines
    result = child!(<<~'RUBY', env: { "PYROSCOPE_SERVER_ADDRESS" => no_server })
      require "spanprof"
      broken = Object.new
      def broken.info(_) = raise("no")
      def broken.warn(_) = raise(IOError, "closed stream")
      p Spanprof.start(logger: broken)
      burn 0.05
      Spanprof.flush
    RUBY
    assert_equal "true\n", result.out
    assert_match(/^spanprof: profiling "test"/, result.err)
    assert_match(/^spanprof: the upload to/, result.err)
  end

  def test_a_logger_that_blocks_does_not_block_the_program
    result = child!(MEMORY + <<~'RUBY')
      stuck = Object.new
      GATE = Queue.new
      def stuck.info(_) = GATE.pop
      Spanprof.start(logger: stuck)
      burn 0.1
      began = clock
      p Spanprof.flush(timeout: 5), clock - began < 2
      p Spanprof.stop, clock - began < 4
    RUBY
    assert_equal %w[true true true true], result.out.split
    assert_burned(0.1, burnt)
  end

  def test_without_a_thread_lines_are_logged_immediately
    result = child!(MEMORY + <<~'RUBY')
      ThreadGroup.new.add(Thread.current).freeze
      p Spanprof.start(logger: MEMORY, sample_rate_hz: 0), Spanprof.start(logger: MEMORY), Spanprof.stop
      puts LINES.map(&:last)
    RUBY
    assert_equal %w[false true true], result.out.split.first(3), result.err
    ["not profiling: sample_rate_hz", 'profiling "test"', "no Ruby thread can be started", "profiling stopped"].each do |line|
      assert_includes result.out, line
    end
  end

  def test_the_last_lines_are_logged
    result = child!(MEMORY + <<~'RUBY')
      Spanprof.start(logger: Logger.new($stdout))
      at_exit { puts "at_exit" }
    RUBY
    assert_match(/at_exit.*spanprof: profiling stopped/m, result.out)
  end

  def test_a_child_logs_only_its_own_lines
    result = child!(<<~'RUBY')
      require "logger"
      require "spanprof"
      Spanprof.start(logger: Logger.new($stdout, formatter: ->(_, _, _, line) { "#{$$} #{line}\n" }))
      $stdout.sync = true
      child = fork { Spanprof.start(labels: { a: 1 }) }
      Process.wait
      puts "#{$$} parent", "#{child} child"
    RUBY
    parent, child = %w[parent child].map { |who| result.out[/^(\d+) #{who}$/, 1] }
    assert_equal 1, result.out.lines.grep(/^#{parent} spanprof: profiling "test"/).size, result.out
    assert_equal 1, result.out.lines.grep(/^#{child} spanprof: profiling "test"/).size, result.out
    assert_equal 1, result.out.lines.grep(/^#{parent} spanprof: profiling stopped/).size, result.out
    assert_equal 2, result.out.lines.grep(/^#{child} spanprof: profiling stopped/).size, result.out
  end
end
