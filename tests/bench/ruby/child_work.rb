# frozen_string_literal: true

# child_work.rb HOW DIRECTORY SECONDS: starts a session, and lets a child process work
# in a span. The child writes its true CPU seconds to DIRECTORY/true-PID.
require_relative "spans"

HOW, DIRECTORY, SECONDS = ARGV
Spans.name("work")

def work
  spent = 0.0
  spent += Spans.in_span("work") { Spans.work("work", 0.05) } while spent < Float(SECONDS)
  File.write("#{DIRECTORY}/true-#{Process.pid}", spent.to_s)
end

case HOW
when "spawn"
  Process.wait(spawn(RbConfig.ruby, __FILE__, "worker", DIRECTORY, SECONDS))
  exit $?.exitstatus || 1
when "worker"
  Spans.account_only
  File.write("#{DIRECTORY}/true-#{Process.pid}", Spans.work("work", Float(SECONDS)).to_s)
else
  Spans.start("#{DIRECTORY}/profiles")
  case HOW
  when "fork" then Process.wait(fork { work })
  when "exit"
    Process.wait(fork do
      work
      exit!(0)
    end)
  when "daemon"
    Process.daemon(true)
    work
    File.write("#{DIRECTORY}/pid", Process.pid.to_s)
  end
end
