# frozen_string_literal: true

require_relative "lib/spanprof/version"

Gem::Specification.new do |spec|
  spec.name = "spanprof"
  spec.version = Spanprof::VERSION
  spec.summary = "Span-aware continuous CPU profiling of Ruby"
  spec.description = "Samples CPU time of threads, fibers and native code, knows at each sample which OpenTelemetry " \
                     "span is active, and sends pprof profiles to Pyroscope or to files. Takes the place of the gems " \
                     "pyroscope and pyroscope-otel without a change to the code."
  spec.authors = ["spanprof"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # `rake gem` copies these files into the gem, and the sources that are compiled into
  # ext/spanprof/vendor.
  documents = %w[README.md MIGRATION.md CHANGELOG.md LICENSE]
  spec.extra_rdoc_files = documents.select { |name| File.file?(File.join(__dir__, name)) }
  spec.files = Dir.chdir(__dir__) { Dir["{lib,sig,exe,ext}/**/*", *documents, ".yardopts"].select { |path| File.file?(path) }.sort }
  spec.extensions = ["ext/spanprof/extconf.rb"]
  spec.bindir = "exe"
  spec.executables = Dir.chdir(__dir__) { Dir["exe/*"].map { |path| File.basename(path) } }
end
