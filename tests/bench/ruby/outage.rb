# frozen_string_literal: true

# Measures the share of samples that arrive at the server in two cases: the server was
# down for 22 s, or the program exits at the end of its script.
require_relative "sink"

AWAY_S = Bench.choose(22.0, 1.5)
WORK_S = Bench.choose(45.0, 3.0)
INTERVAL_MS = Bench.choose(10_000, 1000)

# Runs outage_work.rb, and the block meanwhile.
# @return [Array(Float, Hash)] the true CPU seconds, and the server's summary
def delivered(sink, address)
  pid = spawn(RbConfig.ruby, "#{__dir__}/outage_work.rb", address, WORK_S.to_s, INTERVAL_MS.to_s,
              out: "#{@directory}/#{address[/\d+$/]}")
  yield
  Process.wait(pid)
  raise "the program ended with #{$?}" unless $?.success?

  [Float(File.read("#{@directory}/#{address[/\d+$/]}")), sink.call.summary]
end

def away(name)
  case name
  when "refused"
    port = Sink.free_port
    late = nil
    delivered(-> { late }, "http://127.0.0.1:#{port}") do
      sleep AWAY_S
      late = Sink.new(port)
    end.tap { late.end }
  when "nothing" then Sink.run { |sink| delivered(-> { sink }, sink.address) { nil } }
  else
    Sink.run do |sink|
      delivered(-> { sink }, sink.address) do
        name == "frozen" ? sink.freeze! : sink.control(mode: "status", status: 503)
        sleep AWAY_S
        name == "frozen" ? sink.thaw! : sink.control(mode: "ok")
      end
    end
  end
end

Bench.directory do |directory|
  @directory = directory
  found = %w[refused 503 frozen nothing].to_h { |name| [name, Thread.new { away(name) }] }.transform_values(&:value)
  found.each do |name, (true_s, summary)|
    arrived = summary.fetch("value") / 1e9
    Bench.say format("%-8s used %.3f s, arrived %.3f s in %d profiles, %d sent twice", name, true_s, arrived,
                     summary.fetch("profiles"), summary.fetch("repeats"))
    share = arrived / true_s
    what = name == "nothing" ? "of a program that exits at the end of its script" : format("after %d s away: %s", AWAY_S, name)
    # A request without an answer may have arrived. It is sent again, and the server
    # recognizes the profile by its series and time.
    repeats = summary.fetch("repeats")
    comparison = repeats.zero? ? "" : "#{repeats} sent twice, counted once"
    Bench.bar("delivered #{what}", format("%.3f", share), "all: >= 0.98", comparison, share >= 0.98)
  end
end
Bench.done
