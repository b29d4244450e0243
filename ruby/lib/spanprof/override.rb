# frozen_string_literal: true

module Spanprof
  # Takes the place of methods of Ruby's own, each where it is, and not in front
  # of it: an alias of a prepended method, by which other gems wrap one, calls
  # itself for ever or finds no superclass method.
  # @api private
  module Override
    class << self
      # @param owner [Module] whose methods they are
      # @param overrides [Module] methods of the same names, which call spanprof_original_NAME. No blocks: those cannot
      #   run in other Ractors.
      def install(owner, overrides)
        overrides.instance_methods(false).each do |name|
          hidden = owner.private_method_defined?(name)
          original = original(owner, name)
          owner.class_eval do
            define_method(:"spanprof_original_#{name}", original)
            define_method(name, overrides.instance_method(name))
            private :"spanprof_original_#{name}"
            private name if hidden
          end
        end
      end

      private

      # Below what was prepended to its owner.
      def original(owner, name)
        method = owner.instance_method(name)
        method = method.super_method until method.owner.equal?(owner)
        method
      end
    end
  end
end
