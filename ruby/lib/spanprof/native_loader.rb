# frozen_string_literal: true

require "rbconfig"

module Spanprof
  # Raised by {Spanprof.start} if SPANPROF_REQUIRED=1.
  class Error < StandardError; end

  # Raised by {Spanprof.start} if SPANPROF_REQUIRED=1 and the environment switches profiling off
  # (PYROSCOPE_AGENT_ENABLED=false).
  class Disabled < Error; end

  # Finds the extension in the folder of this file, where a gem has it, or on the load path, where a
  # build has it.
  # @api private
  module NativeLoader
    class << self
      # @return [String, nil] the reason if the extension cannot be loaded
      def load
        system = RbConfig::CONFIG["host_os"]
        return "#{RUBY_ENGINE} is not supported: profiling needs CRuby" unless RUBY_ENGINE == "ruby"
        return "#{system} is not supported: profiling needs Linux" unless system.include?("linux")

        local = "#{__dir__}/spanprof_native.#{RbConfig::CONFIG["DLEXT"]}"
        require File.file?(local) ? local : "spanprof/spanprof_native"
        nil
      rescue LoadError => e
        skipped_reason || "the native extension cannot be loaded: #{e.message}"
      end

      private

      # Returns the reason that extconf.rb wrote instead of compiling the extension.
      def skipped_reason
        folders = [__dir__, *$LOAD_PATH.map { |folder| "#{folder}/spanprof" }]
        path = folders.map { |folder| "#{folder}/skipped_reason.txt" }.find { |candidate| File.file?(candidate) }
        File.read(path).strip if path
      end
    end
  end

  # The reason if the native extension could not be loaded, else nil.
  # @api private
  LOAD_ERROR = NativeLoader.load
  private_constant :LOAD_ERROR, :NativeLoader
  private_constant :Native unless LOAD_ERROR
end
