# frozen_string_literal: true

# Measures the share of the CPU time of forked and spawned processes that is in samples,
# and under the right span. Only the parent process is configured to start profiling.
require_relative "bench"
require_relative "../../ruby/profile_reader"
require_relative "web"

SECONDS = Bench.choose(6.0, 0.6)
LOAD_S = Bench.choose(10, 1)

# @return [Array(Float, Float, Float)] true, seen and labelled seconds
def judge(directory)
  true_s = Dir["#{directory}/true-*"].sum { |path| Float(File.read(path)) }
  seen = ProfileReader.samples("#{directory}/profiles").select { |sample| sample.in?(/burn_work/) }
  [true_s, seen.sum(&:cpu_ns) / 1e9, seen.select { |sample| sample.labels["span_name"] == "work" }.sum(&:cpu_ns) / 1e9]
end

def row(what, figure, spans: true)
  true_s, seen_s, labelled_s = Bench.directory do |directory|
    yield directory
    judge(directory)
  end
  raise "#{what}: nothing was done" unless true_s.positive?

  Bench.say format("%-34s true %.3f s, in samples %.3f s, under the span %.3f s", what, true_s, seen_s, labelled_s)
  measured = (spans ? labelled_s : seen_s) / true_s
  Bench.bar("child's CPU: #{what}", format("%.3f of %.1f s", measured, true_s), ">= #{figure}", "", measured >= figure)
rescue StandardError => e
  Bench.say "#{what}: #{e.message}"
  Bench.bar("child's CPU: #{what}", "not measured", ">= #{figure}", "", false)
end

def child(directory, how, seconds, **env)
  Bench.program("child_work.rb", how, directory, seconds, env: env)
end

# Waits until the last process of the benchmark has written its id to this file and
# exited.
def wait_for(path, limit: 60)
  end_s = Bench.clock + limit
  sleep 0.05 until File.exist?(path) || Bench.clock > end_s
  pid = Integer(File.read(path))
  sleep 0.05 while File.exist?("/proc/#{pid}") && Bench.clock < end_s
end

row("fork", 0.97) { |directory| child(directory, "fork", SECONDS) }
row("Process.daemon", 0.97) do |directory|
  child(directory, "daemon", SECONDS)
  wait_for("#{directory}/pid")
end
row("Resque's way: 2 s, then exit!", 0.95) { |directory| child(directory, "exit", Bench.choose(2.0, 0.5)) }
row("spawn, started by environment", 0.97, spans: false) do |directory|
  child(directory, "spawn", SECONDS, "RUBYOPT" => "-rspanprof/autostart", "PYROSCOPE_APPLICATION_NAME" => "bench",
                                     "PYROSCOPE_OUTPUT_DIRECTORY" => "#{directory}/profiles")
end
{ "puma" => "-C", "unicorn" => "-c" }.each do |name, option|
  if Gem::Specification.find_all_by_name(name).empty?
    Bench.skip("child's CPU: #{name}, preloaded", ">= 0.97", "the gem #{name} is not installed")
  else
    row("#{name}, preloaded, 2 workers", 0.97) do |directory|
      Web.serve(directory, LOAD_S, ["/"], name, option, "#{__dir__}/child_#{name}.rb",
                "#{__dir__}/child_server.ru")
    end
  end
end
Bench.done
