# frozen_string_literal: true

require "child"

# With every version of Ruby, frames have the names that Ruby 3.4 gives them, and their file and
# line.
class NamesTest < ChildTest
  PROGRAM = <<~'RUBY'
    require "spanprof"
    require "zlib"
    Spanprof.start(sample_rate_hz: 250)

    module Shop
      module Taxed
        def tax = burn(0.2)
      end

      class Cart
        include Taxed
        def total = burn(0.2)
        def self.load = burn(0.2)
        class << self
          def open = burn(0.2)
        end
        def listed = [1].each { burn(0.2) }
        def nested = [1].each { [2].each { burn(0.2) } }
        define_method(:made) { burn(0.2) }
        alias sum total
        def <=>(other) = burn(0.2)
        def größe = burn(0.2)
        def rescued
          raise "so"
        rescue RuntimeError
          burn(0.2)
        end
        def ensured
          1.then { nil }
        ensure
          burn(0.2)
        end
        def evaluated = eval("burn(0.2)")
        def method_missing(name, *) = name == :ghost ? burn(0.2) : super
        def respond_to_missing?(name, all = false) = name == :ghost || super
        def sorted = [1, 2].sort { |a, b| burn(0.2); a <=> b }
        def packed = 3.times { Zlib::Deflate.deflate(DATA_TO_PACK) }
      end
    end

    DATA_TO_PACK = Random.bytes(2_000_000)
    cart = Shop::Cart.new
    %i[tax total listed nested made sum größe rescued ensured evaluated ghost sorted packed].each { |name| cart.public_send(name) }
    cart <=> cart
    Shop::Cart.load
    Shop::Cart.open

    lonely = Object.new
    def lonely.alone = burn(0.2)
    lonely.alone
    Class.new { def unnamed = burn(0.2) }.new.unnamed
    Class.new(Shop::Cart) { def self.unnamed_too = burn(0.2) }.unnamed_too

    class Shop::Late
      burn(0.2)
    end
    burn(0.2)
    Thread.new { burn(0.2) }.join
    Fiber.new { burn(0.2) }.resume
    Module.new.module_eval("def self.from_text = burn(0.2)\nself", "text.rb", 7).from_text
    Spanprof.stop
  RUBY

  NAMES = [
    "Shop::Taxed#tax", "Shop::Cart#total", "Shop::Cart.load", "Shop::Cart.open",
    "block in Shop::Cart#listed", "block (2 levels) in Shop::Cart#nested", "block in <class:Cart>",
    "Shop::Cart#<=>", "Shop::Cart#größe", "Shop::Cart#rescued", "Shop::Cart#ensured", "Shop::Cart#evaluated",
    "Shop::Cart#method_missing", "block in Shop::Cart#sorted", "Array#sort", "Array#each", "Zlib::Deflate.deflate",
    "alone", "unnamed", "unnamed_too", "<class:Late>", "<main>", "block in <main>", "from_text", "Object#burn"
  ].freeze

  def run_program(*ruby)
    child!(PROGRAM, *ruby)
    samples
  end

  def test_names_are_those_of_ruby_3_4
    stacks = run_program.map(&:stack)
    assert_empty(NAMES.reject { |name| stacks.any? { |stack| stack.include?(name) } })
    assert_empty(stacks.flatten.uniq.grep(/#<[A-Z]|rescue in|ensure in|\(unknown\)/))
  end

  def test_names_are_the_same_with_yjit
    skip "this Ruby has no YJIT" unless system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", err: File::NULL)
    stacks = run_program("--yjit").map(&:stack)
    assert_empty(NAMES.reject { |name| stacks.any? { |stack| stack.include?(name) } })
  end

  def test_frames_know_their_file_and_line
    frames = run_program.flat_map(&:frames).uniq
    path = File.realpath("#{@directory}/program.rb")
    source = File.readlines(path)
    total = frames.find { |frame| frame.function == "Shop::Cart#total" }
    assert_equal path, total.file
    assert_includes source[total.line - 1], "def total"
    assert_equal total.line, total.start_line
    rescued = frames.select { |frame| frame.function == "Shop::Cart#rescued" }
    lines = rescued.map { |frame| source[frame.line - 1] }
    assert(lines.any? { |line| line.include?("burn(0.2)") }, lines.inspect)
    assert_equal ["text.rb"], frames.select { |frame| frame.function == "from_text" }.map(&:file).uniq
    assert_equal [7], frames.select { |frame| frame.function == "from_text" }.map(&:line).uniq
  end

  # The path of a class is in UTF-8. The names of its methods are in encodings that String#+ cannot
  # concatenate with UTF-8.
  def test_names_in_other_encodings_than_their_class
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      Größe = Class.new
      Größe.class_eval(<<~CODE.encode("EUC-JP"))
        # encoding: EUC-JP
        def self.あ = [1].each { burn(0.2) }
      CODE
      Größe.class_eval("# encoding: BINARY\ndef self.\xff = burn(0.2)".b)
      Größe.singleton_class.instance_methods(false).each { |name| Größe.public_send(name) }
      Spanprof.stop
    RUBY
    names = samples.flat_map(&:stack).uniq.grep(/Größe/)
    assert_equal ["Größe.?", "Größe.あ", "block in Größe.あ"], names.sort
  end

  # Names of methods that ActionView (7.2, 8.0) and Tilt (2.9) generate for templates, with a hash
  # and an id that differ in each process.
  VIEWS = {
    "_app_views_carts_show_html_erb__3496284017489214_220" => "_app_views_carts_show_html_erb",
    "_app_views_carts__item_html_erb___3496284017489214_13600" => "_app_views_carts__item_html_erb",
    "__tilt_4320" => "__tilt", "_step__1_2" => "_step__1_2", "step_349628401748_2" => "step_349628401748_2"
  }.freeze

  def test_names_of_views_are_the_same_in_every_process
    child!(<<~RUBY)
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      class View
        #{VIEWS.keys.map { |name| "def #{name} = [1].each { burn(0.2) }" }.join("\n")}
      end
      #{VIEWS.keys}.each { |name| View.new.public_send(name) }
      Spanprof.stop
    RUBY
    names = samples.flat_map(&:stack).uniq.grep(/View#/)
    assert_equal VIEWS.values.flat_map { |name| ["View##{name}", "block in View##{name}"] }.sort, names.sort
  end

  def test_names_are_those_of_this_ruby_s_backtraces
    skip "labels have no classes before Ruby 3.4" if Gem::Version.new(RUBY_VERSION) < Gem::Version.new("3.4")
    result = child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      module Shop
        class Cart
          def total
            [1].each { |_| @labels = caller_locations(0).map(&:label); burn(0.2) }
            puts @labels
          end
        end
      end
      Shop::Cart.new.total
      Spanprof.stop
    RUBY
    stack = samples.map(&:stack).find { |names| names.include?("Object#burn") }
    assert_equal result.out.split("\n"), stack.drop(stack.index("Object#burn") + 1).grep(/total|Array#each|<main>/)
  end
end
