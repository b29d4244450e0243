# frozen_string_literal: true

# Installs each alternative into its own folder, with the version of OpenTelemetry's SDK
# with which spanprof is measured, and prints which alternatives are available.
require_relative "peers"

COMMON = %w[opentelemetry-sdk async].filter_map do |name|
  Gem::Specification.find_all_by_name(name).max_by(&:version)&.then { |found| "#{name}:#{found.version}" }
end

# @return [String, nil] why the alternative is not available; nil if it is
def install(gem, env)
  return if File.exist?("#{env["GEM_HOME"]}/installed")

  [[gem], COMMON].each do |gems|
    output = IO.popen(env, [RbConfig.ruby, "-S", "gem", "install", "--no-document", *gems], err: %i[child out], &:read)
    return (output[/^ERROR:.*\n\s*(.+)/, 1] || output.lines.last).to_s.strip unless $?.success?
  end
  FileUtils.touch("#{env["GEM_HOME"]}/installed")
  nil
end

had = Peers::GEMS.filter_map do |name, gem|
  env = Peers.env(name)
  reason = install(gem, env)
  next warn("    without #{name}: #{reason}") if reason

  specifications = Dir["#{env["GEM_HOME"]}/specifications/#{gem[/[\w-]+/]}-[0-9]*"]
  warn "    with #{specifications.map { |path| File.basename(path, ".gemspec") }.join}"
  name
end
puts had.join(" ")
