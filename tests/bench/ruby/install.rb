# frozen_string_literal: true

# What `gem install` from source takes, into an empty folder.
require_relative "bench"

if Bench.quick?
  Bench.skip("gem install from source", "<= 30 s, <= 8 MB", "takes half a minute, and the run has done it")
  Bench.done
end

def bytes(folder)
  Dir["#{folder}/**/*"].select { |path| File.file?(path) }.sum { |path| File.size(path) }
end

Bench.directory do |directory|
  before = Process.times
  env = { "GEM_HOME" => directory, "GEM_PATH" => directory, "RUBYLIB" => nil }
  system(env, RbConfig.ruby, "-S", "gem", "install", "--local", "--force", "--no-document",
         "#{Bench::ROOT}/build/spanprof.gem", out: IO::NULL) or raise "it could not be installed"
  after = Process.times
  system(env, RbConfig.ruby, "-rspanprof", "-e", "exit Spanprof.available?") or raise "it was installed without its extension"
  cpu_s = after.cutime + after.cstime - before.cutime - before.cstime
  mb = bytes(directory) / 1e6
  Bench.say format("extensions %.1f MB", bytes("#{directory}/extensions") / 1e6)
  Bench.bar("gem install from source", format("%.1f s of CPU", cpu_s), "<= 30 s", "stackprof 1.4, datadog 13-16 s", cpu_s <= 30)
  Bench.bar("on disk", format("%.1f MB", mb), "<= 8 MB", "stackprof 1-2, pyroscope 26-34, datadog 61-75 MB", mb <= 8)
end
Bench.done
