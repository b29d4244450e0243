# frozen_string_literal: true

# Two threads run commands in a profiled process while another thread is busy. Each command
# succeeds, and its output is complete.
require_relative "stress"
require "open3"

TEXT = "0123456789" * 2000

Stress.run do |round|
  busy = Thread.new { Stress.burn(0.05) }
  other = Thread.new { Open3.capture2("cat", stdin_data: TEXT) }
  system("sleep 0.005", exception: true)
  abort "`echo` wrote something else" unless `echo #{round}` == "#{round}\n"
  abort "a child was lost" unless Process.wait2(spawn("exit 7")).last.exitstatus == 7
  abort "cat wrote something else" unless IO.popen("cat", "r+") { |io| io.write(TEXT) && io.close_write || io.read } == TEXT
  text, status = other.value
  abort "cat in a thread wrote something else" unless status.success? && text == TEXT
  busy.join
end
