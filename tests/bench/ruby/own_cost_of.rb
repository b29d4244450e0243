# frozen_string_literal: true

# own_cost_of.rb KIND ADDRESS: prints the CPU time of the process without that of the
# application's thread, which works on JSON and regular expressions, 27 frames deep.
# KIND is none, ours, ours_each (another span in each sample), ours_plain (without
# native frames and spans), or an alternative.
require_relative "peers"
require_relative "spans"
require "json"

KIND, ADDRESS = ARGV
# The run is as long as that of the Python package's benchmark. The profiler's first
# work, about 20 ms for reading modules, symbols and names, is thus spread over a
# minute.
SECONDS = Bench.choose(60.0, 0.7)
FRAMES = 27
RECORD = JSON.generate((0...40).map { |index| { "id" => index, "name" => "ride #{index}", "tags" => %w[a b c], "km" => index * 1.5 } })
PATTERN = /"name":"(\w+) (\d+)"/

# The application's work, in 40 methods.
module Work
  40.times do |index|
    module_eval(<<~RUBY, "work.rb", 1)
      def self.step#{index}
        rides = JSON.parse(RECORD)
        rides.each { |ride| ride["name"] = ride["name"].upcase.downcase }
        JSON.generate(rides).scan(PATTERN).sum { |_, number| number.to_i }
      end
    RUBY
  end

  def self.deep(frames, index) = frames > 1 ? deep(frames - 1, index) : public_send(:"step#{index}")
end

OURS = KIND.start_with?("ours")
if OURS
  Spans.start(nil, server: ADDRESS, native: KIND != "ours_plain")
elsif KIND != "none"
  Spans.follow(Peers.processor(KIND))
  Peers.start(KIND, address: ADDRESS)
end
span = KIND == "ours_each" ? ->(&block) { Spans.in_span("GET /rides", &block) } : ->(&block) { block.call }

GC.start
own_s = Bench.process_cpu - Bench.cpu
begin_s = Bench.cpu
turn = 0
while Bench.cpu - begin_s < SECONDS
  turn += 1
  span.call { 4.times { Work.deep(FRAMES - caller.size - 4, turn % 40) } }
end
spent_s = Bench.cpu - begin_s
# The CPU time of the last upload is included, because the program waits for it.
Spanprof.flush if OURS
Peers.stop(KIND) unless OURS || KIND == "none"
found = { own_s: Bench.process_cpu - Bench.cpu - own_s, spent_s: spent_s, ended_s: Bench.cpu - begin_s - spent_s }
found.merge!(Spanprof.stats.slice(:samples_taken, :profiles_sent, :collector_cpu_ns, :uploader_cpu_ns)) if OURS
puts JSON.generate(found)
$stdout.flush
exit!(0)
