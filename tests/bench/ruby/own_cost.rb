# frozen_string_literal: true

# CPU of all that is ours beside the application's thread, uploads and names
# included, while that thread works on JSON and regular expressions, 27 frames
# deep: what the process used and that thread did not. Without a session that is
# the control.
require_relative "sink"
require_relative "spans"

SECONDS = Bench.choose(11.0, 0.7)
ROUNDS = Bench.choose(3, 1)
FRAMES = 27
RECORD = JSON.generate((0...40).map { |index| { "id" => index, "name" => "ride #{index}", "tags" => %w[a b c], "km" => index * 1.5 } })
PATTERN = /"name":"(\w+) (\d+)"/

# Work of the ordinary kind, in 40 methods.
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

# @return [Array(Float, Float)] CPU seconds of the process without this thread,
#   and of this thread
def work(span)
  GC.start
  own_s = Bench.process_cpu - Bench.cpu
  begin_s = Bench.cpu
  turn = 0
  while Bench.cpu - begin_s < SECONDS
    turn += 1
    span.call { 4.times { Work.deep(FRAMES - caller.size - 4, turn % 40) } }
  end
  spent = Bench.cpu - begin_s
  Spanprof.flush if defined?(Spanprof) && Spanprof.running?
  [Bench.process_cpu - Bench.cpu - own_s, spent]
end

control = Bench.apart { work(->(&block) { block.call }) }
Bench.say format("without: %.4f s beside %.2f s", *control)
control = 100 * control[0] / control[1]

# @return [Float] percent of the core
def share(native:, &span)
  Sink.run do |sink|
    own_s, spent, stats = Bench.apart do
      Spans.start(nil, server: sink.address, native: native)
      [*work(span), Spanprof.stats]
    end
    Bench.say format("ours: %.4f s beside %.2f s; %d samples, %d profiles sent, collector %.4f s, uploader %.4f s", own_s,
                     spent, stats[:samples_taken], stats[:profiles_sent], stats[:collector_cpu_ns] / 1e9,
                     stats[:uploader_cpu_ns] / 1e9)
    100 * own_s / spent
  end
end

def shares(native: true, &span) = Bench.median(Array.new(ROUNDS) { share(native: native, &span) })

one = shares { |&block| block.call }
each = shares { |&block| Spans.in_span("GET /rides", &block) }
without_native = shares(native: false) { |&block| block.call }
Bench.bar("CPU of our threads, 100 Hz, #{FRAMES} frames, uploads, names", format("%.2f %% of a core", one), "<= 0.3 %",
          format("control %.2f %%; pf2 0.6, datadog 0.9, vernier 1.1, pyroscope 6.9 %%", control), one <= 0.3)
Bench.bar("the same with another span in each sample", format("%.2f %%", each), "none",
          format("without native frames and spans %.2f %%", without_native), true)
Bench.done
