# frozen_string_literal: true

module Spanprof
  # Replaces methods of Ruby and of other gems. The replacement is defined in the module that
  # defines the original. Module#prepend is not used, because it fails if another gem wraps the
  # method by an alias: an alias of a prepended method calls itself endlessly or does not find its
  # superclass method.
  # @api private
  module Override
    # The replacements that are installed: their UnboundMethods by owner and name.
    @installed = {}

    class << self
      # Idempotent.
      # @param owner [Module] has or inherits the methods; names that it does not have are skipped
      # @param overrides [Module] the replacements: methods of the same names, which call
      #   spanprof_original_NAME. They must not be defined by blocks, because such methods cannot
      #   run in other Ractors.
      def install(owner, overrides)
        each_method(owner, overrides) do |name, original|
          place(original, name, overrides.instance_method(name)) unless @installed.key?([original.owner, name])
        end
      end

      # Restore the original methods. A replacement that other code has wrapped stays installed,
      # because the wrapper calls it.
      # @param owner [Module] the owner that was passed to {install}
      # @param overrides [Module] the replacements that were passed to {install}
      def remove(owner, overrides)
        each_method(owner, overrides) do |name, method|
          next if @installed[[method.owner, name]] != method || aliased?(method)

          define(method.owner, name, method.owner.instance_method(original_name(name)))
          @installed.delete([method.owner, name])
        end
      end

      private

      def original_name(name) = :"spanprof_original_#{name}"

      def each_method(owner, overrides)
        (overrides.instance_methods(false) + overrides.private_instance_methods(false)).each do |name|
          method = method_of(owner, name)
          yield name, method if method
        end
      end

      # Returns the method of the owner itself, without methods that were prepended to the owner.
      def method_of(owner, name)
        return unless owner.method_defined?(name) || owner.private_method_defined?(name)

        prepended = owner.ancestors.take_while { |above| !above.equal?(owner) }
        method = owner.instance_method(name)
        method = method.super_method while method && prepended.include?(method.owner)
        method
      end

      def place(original, name, override)
        owner = original.owner
        @installed[[owner, name]] = nil # other threads must not replace this method, too
        define(owner, original_name(name), original)
        owner.class_exec(original_name(name)) { |name_of_original| private name_of_original }
        define(owner, name, override)
        @installed[[owner, name]] = method_of(owner, name)
      end

      # Define a method with the visibility that it has now.
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
