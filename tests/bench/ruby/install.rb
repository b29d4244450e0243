# frozen_string_literal: true

# Measures the cost of `gem install` from source into an empty folder. For the
# alternatives, RubyGems may choose a prebuilt gem.
require_relative "peers"

if Bench.quick?
  Bench.skip("gem install from source", "<= 30 s, <= 8 MB", "takes half a minute, and the run has done it")
  Bench.done
end

def bytes(folder)
  Dir["#{folder}/**/*"].select { |path| File.file?(path) }.sum { |path| File.size(path) }
end

# @return [Array(Float, Float, Float)] CPU seconds, MB of all files, and MB of the extensions
def install(*what, **options)
  Bench.directory do |directory|
    before = Process.times
    env = { "GEM_HOME" => directory, "GEM_PATH" => directory, "RUBYLIB" => nil }
    system(env, RbConfig.ruby, "-S", "gem", "install", "--local", "--no-document", *what, out: IO::NULL, **options) or
      raise "it could not be installed"
    after = Process.times
    yield env if block_given?
    [after.cutime + after.cstime - before.cutime - before.cstime, bytes(directory) / 1e6,
     bytes("#{directory}/extensions") / 1e6]
  end
end

cpu_s, mb, extensions_mb = install("--force", "#{Bench::ROOT}/build/spanprof.gem") do |env|
  system(env, RbConfig.ruby, "-rspanprof", "-e", "exit Spanprof.available?") or raise "it was installed without its extension"
end
Bench.say format("extensions %.1f MB", extensions_mb)
# The alternatives are installed from downloaded files, with their dependencies.
peers = Peers.names.to_h do |peer|
  [peer, Peers.attempt(peer) { install(Peers::GEMS[peer], chdir: "#{Peers.env(peer)["GEM_HOME"]}/cache") }]
end.compact
Bench.bar("gem install from source", format("%.1f s of CPU", cpu_s), "<= 30 s",
          Peers.comparison("", peers.keys) { |peer| format("%.1f s", peers[peer][0]) }, cpu_s <= 30)
Bench.bar("on disk", format("%.1f MB", mb), "<= 8 MB", Peers.comparison("", peers.keys) { |peer| format("%.1f MB", peers[peer][1]) },
          mb <= 8)
Bench.done
