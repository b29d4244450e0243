# frozen_string_literal: true

# Checks a Rails application on Puma in cluster mode, preloaded, and instrumented by
# OpenTelemetry's gems. Its actions use CPU in Ruby, in C, in zlib, and in a thread with
# the captured context. Measures the share of this CPU time that is under the request's
# span, and under the span's final name, which is that of the route.
require_relative "web"
require_relative "../../ruby/profile_reader"

LOAD_S = Bench.choose(20, 1)
NEEDED = %w[actionpack railties puma opentelemetry-instrumentation-rails].freeze
PATHS = %w[/rides/in_ruby/1 /rides/in_c/2 /rides/in_zlib/3 /rides/in_thread/4].freeze

# @return [Hash] CPU seconds: true, in samples (seen), under the right span (right), and
#   under its final name (named)
def judge(directory)
  lines = Dir["#{directory}/spans-*"].flat_map { |path| File.readlines(path, chomp: true) }.map { |line| line.split("\t") }
  worked = lines.filter_map { |kind, id, work| [id, work] if kind == "worked" }.to_h
  final = lines.filter_map { |kind, id, name| [id, name] if kind == "finished" }.to_h
  found = Hash.new(0.0)
  found[:true] = lines.sum { |kind, _, _, seconds| kind == "worked" ? Float(seconds) : 0.0 }
  ProfileReader.samples("#{directory}/profiles").each do |sample|
    work = sample.stack.find { |name| name.include?(".burn_") }&.slice(/burn_(\w+)/, 1) or next
    id, name = sample.labels.values_at("profile_id", "span_name")
    found[:seen] += sample.cpu_ns / 1e9
    next unless worked[id] == work

    found[:right] += sample.cpu_ns / 1e9
    found[:named] += sample.cpu_ns / 1e9 if name == final[id]
  end
  Bench.say "names: #{final.values.tally}"
  found
end

missing = NEEDED.reject { |name| Gem::Specification.find_all_by_name(name).any? }
unless missing.empty?
  Bench.skip("Rails on Puma: CPU under the right span; under the route", ">= 0.97; >= 0.95", "not installed: #{missing.join(", ")}")
  Bench.done
end

Bench.directory do |directory|
  answered = Web.serve(directory, LOAD_S, PATHS, "puma", "-C", "#{__dir__}/child_puma.rb", "#{__dir__}/rails_app.ru")
  File.foreach("#{directory}/log") { |line| Bench.say line if line.match?(/spanprof|rror/) }
  found = judge(directory)
  versions = %w[railties puma].map { |name| "#{name} #{Gem::Specification.find_by_name(name).version}" }.join(", ")
  Bench.say format("%d requests; true %.2f s, in samples %.2f s, right %.2f s, under the final name %.2f s; %s", answered,
                   *found.values_at(:true, :seen, :right, :named), versions)
  right, named = found.values_at(:right, :named).map { |seconds| seconds / found[:true] }
  Bench.bar("Rails on Puma, preloaded: CPU under the right span", format("%.3f", right), ">= 0.97",
            "", right >= 0.97)
  Bench.bar("under the name of the route", format("%.3f", named), ">= 0.95", "", named >= 0.95)
end
Bench.done
