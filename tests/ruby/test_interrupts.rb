# frozen_string_literal: true

require "child"

# If a signal, a timeout or another thread raises an exception while code of spanprof runs, the
# exception is raised in the program after this code has finished.
class InterruptsTest < ChildTest
  # After Aim.at(owner, name), another thread raises Aimed in the main thread at each call of the
  # method, before the original method runs.
  AIM = <<~'RUBY'
    class Aimed < StandardError; end
    MAIN = Thread.current
    module Aim
      def self.at(owner, name)
        owner.prepend(Module.new {
          define_method(name) do |*arguments, **keywords, &block|
            Thread.new { MAIN.raise(Aimed, "#{name}") }.join
            super(*arguments, **keywords, &block)
          end
        })
      end
    end
  RUBY

  def test_a_start_completes_before_an_interrupt
    result = child!(AIM + <<~'RUBY')
      require "spanprof"
      Aim.at(Spanprof::ReplacedGems.singleton_class, :warn_if_loaded)
      begin
        Spanprof.start(log_level: :off)
        p "not raised"
      rescue Aimed => e
        p e.message, Spanprof.running?, Spanprof.unavailable_reason
      end
    RUBY
    assert_equal %("warn_if_loaded"\ntrue\nnil\n), result.out
    assert_empty result.err
  end

  def test_a_child_is_profiled_before_an_interrupt
    result = child!(AIM + <<~'RUBY')
      require "spanprof"
      Spanprof.start(log_level: :off) or abort
      Aim.at(Spanprof::Logging.singleton_class, :forget)
      reader, writer = IO.pipe
      began = clock
      begin
        pid = fork { writer.puts "not raised"; exit!(0) }
      rescue Aimed
        sleep 0.01 until (named = Thread.list.map(&:name).include?("spanprof")) || clock > began + 10
        writer.puts "raised, #{Spanprof.running?}, #{named}"
        exit!(0)
      end
      Process.wait(pid)
      writer.close
      puts reader.read
    RUBY
    assert_equal "raised, true, true\n", result.out
  end

  def test_an_exec_delivers_samples_before_an_interrupt
    result = child!(AIM + <<~'RUBY')
      require "spanprof"
      Spanprof.start(log_level: :off) or abort
      burn 0.3
      Aim.at(Spanprof::Logging.singleton_class, :deliver)
      begin
        exec("echo", "not raised")
      rescue Aimed
        puts "raised"
      end
    RUBY
    assert_equal "raised\n", result.out
    assert_operator seconds(samples), :>, 0.1
  end
end
