#!/usr/bin/env ruby
# frozen_string_literal: true

# The gem's RBS signatures have exactly the public methods of the installed code,
# with arguments that the methods accept.
require "minitest/autorun"
require "fileutils"
require "opentelemetry/sdk"
require "rbs"
require "tmpdir"
require "spanprof"
require "pyroscope/otel"

class TypesTest < Minitest::Test
  SIG = File.join(Gem.loaded_specs.fetch("spanprof").full_gem_path, "sig")
  # Methods of Ruby that the gem's classes define again; the comparison
  # omits them.
  USUAL = %i[initialize respond_to_missing? method_missing].freeze

  def setup
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(SIG))
    environment = RBS::Environment.from_loader(loader).resolve_type_names
    @builder = RBS::DefinitionBuilder.new(env: environment)
  end

  [Spanprof, Spanprof::Otel, Pyroscope].each do |mod|
    define_method(:"test_methods_of_#{mod}") do
      compare(@builder.build_singleton(type_name(mod)), mod.singleton_class, type_name(mod))
    end
  end

  [Spanprof::Otel::SpanProcessor, Spanprof::Profile, Pyroscope::Config].each do |klass|
    define_method(:"test_methods_of_#{klass}") do
      compare(@builder.build_instance(type_name(klass)), klass, type_name(klass))
    end
  end

  def test_steep_finds_no_error_in_the_consumer
    Dir.mktmpdir do |folder|
      FileUtils.cp_r([SIG, *Dir[File.join(__dir__, "types", "*")]], folder)
      said = IO.popen([Gem.ruby, Gem.bin_path("steep", "steep"), "check", "--jobs=1"],
                      chdir: folder, err: %i[child out], &:read)
      assert_predicate Process.last_status, :success?, said
      assert_match(/No type error detected/, said)
    end
  end

  private

  def type_name(mod)
    RBS::TypeName.parse("::#{mod.name}")
  end

  def compare(definition, code, name)
    signed = definition.methods.select { |_, method| method.defined_in == name && method.public? }
    native = code.included_modules.select { |mod| mod.name&.start_with?("Spanprof::Native") }
    methods = [code, *native].flat_map { |mod| mod.public_instance_methods(false) }.uniq - private_api(code)

    assert_equal methods.sort, (signed.keys - USUAL).sort
    signed.each { |method, signature| signature.method_types.each { |type| accept(code, method, type.type) } }
  end

  # Returns the methods whose comment has YARD's tag "@api private".
  def private_api(code)
    code.public_instance_methods(false).select do |method|
      path, line = code.instance_method(method).source_location
      next false unless path

      File.readlines(path)[0...(line - 1)].reverse.take_while { |text| text =~ /^\s*#/ }.grep(/@api private/).any?
    end
  end

  # Checks that the method accepts the required arguments of its signature.
  def accept(code, method, function)
    arity = code.instance_method(method).arity
    required = function.required_positionals.size

    assert arity.negative? ? required >= ~arity : required == arity, "#{code}##{method}: #{arity} for #{required}"
  end
end
