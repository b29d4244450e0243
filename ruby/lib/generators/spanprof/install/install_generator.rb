# frozen_string_literal: true

require "rails/generators"

module Spanprof
  module Generators
    # Implements `rails generate spanprof:install`.
    class InstallGenerator < ::Rails::Generators::Base
      desc "Writes config/initializers/spanprof.rb, with the options that matter first."
      source_root File.expand_path("templates", __dir__)

      def copy_initializer
        template "spanprof.rb.tt", "config/initializers/spanprof.rb"
      end
    end
  end
end
