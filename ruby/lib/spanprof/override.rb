# frozen_string_literal: true

module Spanprof
  # Takes the place of methods of Ruby's own and of other gems, each where it
  # is, and not in front of it: an alias of a prepended method, by which other
  # gems wrap one, calls itself for ever or finds no superclass method.
  # @api private
  module Override
    # By owner and name: our method as it stands there.
    @placed = {}

    class << self
      # Idempotent.
      # @param owner [Module] that has the methods, or inherits them; those that it has not are left out
      # @param overrides [Module] methods of the same names, which call spanprof_original_NAME. No blocks: those cannot
      #   run in other Ractors.
      def install(owner, overrides)
        each_method(owner, overrides) do |name, original|
          place(original, name, overrides.instance_method(name)) unless @placed.key?([original.owner, name])
        end
      end

      # Puts the originals back. A method of ours that somebody has wrapped stays,
      # since it is what the wrapper calls.
      # @param owner [Module] as of {install}
      # @param overrides [Module] as of {install}
      def remove(owner, overrides)
        each_method(owner, overrides) do |name, method|
          next if @placed[[method.owner, name]] != method || aliased?(method)

          define(method.owner, name, method.owner.instance_method(kept(name)))
          @placed.delete([method.owner, name])
        end
      end

      private

      def kept(name) = :"spanprof_original_#{name}"

      def each_method(owner, overrides)
        (overrides.instance_methods(false) + overrides.private_instance_methods(false)).each do |name|
          method = method_of(owner, name)
          yield name, method if method
        end
      end

      # Below what was prepended to its owner.
      def method_of(owner, name)
        return unless owner.method_defined?(name) || owner.private_method_defined?(name)

        prepended = owner.ancestors.take_while { |above| !above.equal?(owner) }
        method = owner.instance_method(name)
        method = method.super_method while method && prepended.include?(method.owner)
        method
      end

      def place(original, name, override)
        owner = original.owner
        @placed[[owner, name]] = nil # for other threads
        define(owner, kept(name), original)
        owner.class_exec(kept(name)) { |kept| private kept }
        define(owner, name, override)
        @placed[[owner, name]] = method_of(owner, name)
      end

      # As hidden as it was.
      def define(owner, name, method)
        hidden = owner.private_method_defined?(name)
        owner.define_method(name, method)
        owner.class_eval { private name } if hidden
      end

      def aliased?(method)
        owner = method.owner
        (owner.instance_methods(false) + owner.private_instance_methods(false)).any? do |name|
          name != method.name && owner.instance_method(name) == method
        end
      end
    end
  end
end
