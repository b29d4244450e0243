# frozen_string_literal: true

module Spanprof
  # What {Spanprof.start} raises with SPANPROF_REQUIRED=1.
  class Error < StandardError; end

  # The environment switches profiling off (PYROSCOPE_AGENT_ENABLED=false).
  class Disabled < Error; end

  # Why the native extension could not be loaded, or nil.
  # @api private
  LOAD_ERROR =
    if RUBY_ENGINE == "ruby"
      begin
        require "spanprof/spanprof_native"
        nil
      rescue LoadError => e
        # Beside the extension, where extconf.rb could not compile one.
        skipped = $LOAD_PATH.map { |folder| "#{folder}/spanprof/skipped_reason.txt" }.find { |path| File.file?(path) }
        skipped ? File.read(skipped).strip : "the native extension cannot be loaded: #{e.message}"
      end
    else
      "#{RUBY_ENGINE} is not supported: profiling needs CRuby"
    end
  private_constant :LOAD_ERROR
  private_constant :Native unless LOAD_ERROR
end
