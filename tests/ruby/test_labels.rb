# frozen_string_literal: true

require "span_case"
require "pyroscope"

# Spanprof.label, and the tags of the gem pyroscope.
class LabelsTest < SpanCase
  # @return [Set<Hash>] the different labels of the samples in burn(name)
  def labels_of(name)
    @samples.select { |sample| worker(sample) == name }.map(&:labels).uniq.to_set
  end

  def assert_labels(expected)
    expected.each do |name, labels|
      sets = labels.is_a?(Hash) ? [labels] : labels
      assert_equal sets.to_set, labels_of(name), "labels of burn(#{name})"
    end
  end

  def test_nested_labels_hide_outer_ones
    profile do
      Spanprof.label(tenant: "acme", tier: 1) do
        burn(:outer, 0.2)
        Spanprof.label("tenant" => "inner") { burn(:inner, 0.2) }
        burn(:outer, 0.2)
      end
      burn(:after, 0.2)
    end
    assert_labels outer: { "tenant" => "acme", "tier" => "1" }, inner: { "tenant" => "inner", "tier" => "1" },
                  after: {}
  end

  def test_the_blocks_value_and_exceptions_are_passed
    assert_equal 7, Spanprof.label(a: 1) { 7 }
    assert_equal 8, Spanprof.label { 8 }
    profile do
      assert_raises(IOError) { Spanprof.label(a: 1) { raise IOError } }
      catch(:done) { Spanprof.label(a: 2) { throw :done } }
      burn(:after, 0.2)
    end
    assert_labels after: {}
  end

  # Values that a program may use, and the label values in the profile.
  VALUES = {
    comma: ["a,b=c d", "a,b=c d"], utf8: ["žluťoučký", "žluťoučký"], latin: ["caf\xE9".dup.force_encoding("ISO-8859-1"), "café"],
    utf16: ["über".encode("UTF-16LE"), "über"], symbol: [:sym, "sym"], number: [1.5, "1.5"], nil: [nil, nil],
    empty: ["", nil]
  }.freeze

  def test_the_to_s_of_any_value_is_used
    profile { VALUES.each { |name, (value, _)| Spanprof.label(name => value) { burn(name, 0.2) } } }
    VALUES.each { |name, (_, text)| assert_labels(name => text ? { name.to_s => text } : {}) }
  end

  def test_invalid_labels_are_cleaned_and_counted
    profile do
      Spanprof.label(key: "bad \xFF byte") { burn(:invalid, 0.2) }
      Spanprof.label(key: "nul\0byte") { burn(:nul, 0.2) }
      Spanprof.label("odd name-1": 1) { burn(:name, 0.2) }
      Spanprof.label(long: "x" * 5000) { burn(:long, 0.2) }
    end
    values = %i[invalid nul long].to_h { |name| [name, labels_of(name).first.values.first] }
    values.each_value { |value| assert_predicate value, :valid_encoding? }
    refute_includes values[:nul], "\0"
    assert_operator values[:long].bytesize, :<=, 2048
    assert_labels name: { "odd_name_1" => "1" }
    assert_operator Spanprof.stats[:labels_cleaned], :>=, 4
  end

  def test_a_value_whose_to_s_raises_is_logged_and_omitted
    bad = Object.new
    def bad.to_s = raise(ArgumentError, "no text")
    profile { Spanprof.label(good: 1, bad: bad) { burn(:work, 0.2) } }
    assert_labels work: { "good" => "1" }
  end

  def test_fibers_and_threads_have_labels_of_their_own
    profile do
      fiber = Fiber.new do
        Spanprof.label(fiber: "yes") do
          burn(:fiber, 0.2)
          Fiber.yield
          burn(:fiber, 0.2)
        end
        burn(:bare, 0.2)
      end
      Spanprof.label(main: "yes") do
        fiber.resume
        burn(:main, 0.2)
        Thread.new { burn(:bare, 0.2) }.join
        fiber.resume
      end
      burn(:bare, 0.2)
    end
    assert_labels fiber: { "fiber" => "yes" }, main: { "main" => "yes" }, bare: {}
  end

  def test_labels_and_spans_together
    profile do
      Spanprof.label(action: "show") { @tracer.in_span("span") { burn(:both, 0.2) } }
      @tracer.in_span("span") { Spanprof.label(action: "show") { burn(:both, 0.2) } }
      @tracer.in_span("span") { burn(:span, 0.2) }
    end
    assert_equal [{ "action" => "show", "span_name" => "span" }],
                 labels_of(:both).map { |labels| labels.slice("action", "span_name") }.uniq
    assert_equal [%w[profile_id span_name]], labels_of(:span).map(&:keys).uniq
  end

  def test_tags
    profile do
      Pyroscope.tag_wrapper({ "a" => 1 }) { burn(:wrapped, 0.2) }
      Pyroscope._add_tags({ a: 1, b: 2 })
      burn(:two, 0.2)
      Pyroscope._remove_tags({ a: 1 })
      burn(:one, 0.2)
      Pyroscope._add_tags({ b: 3 })
      Pyroscope._remove_tags({ b: 2 }) # does nothing, because the value of b is 3 now
      burn(:three, 0.2)
      Pyroscope._remove_tags(Pyroscope.thread_id, { b: 3 })
      burn(:none, 0.2)
    end
    assert_labels wrapped: { "a" => "1" }, two: { "a" => "1", "b" => "2" }, one: { "b" => "2" },
                  three: { "b" => "3" }, none: {}
  end

  def test_a_thousand_threads_and_fibers_with_labels
    profile do
      100.times { |i| Thread.new { Spanprof.label(n: i % 7) { burn(:labelled, 0.002) } }.join }
      300.times { |i| Fiber.new { Spanprof.label(n: i % 7) { burn(:labelled, 0.002) } }.resume }
      burn(:bare, 0.2)
    end
    assert_labels labelled: Array.new(7) { |i| { "n" => i.to_s } }, bare: {}
  end

  # An exception of Timeout reaches the program, whatever part of spanprof it interrupts.
  def test_a_timeout_is_not_rescued
    require "timeout"
    processor = Spanprof::Otel::SpanProcessor.new
    provider = OpenTelemetry::SDK::Trace::TracerProvider.new.tap { |made| made.add_span_processor(processor) }
    tracer = provider.tracer("test")
    limit = Class.new(StandardError)
    profile do
      20.times do
        assert_raises(limit) do
          Timeout.timeout(0.01, limit) { loop { Spanprof.label(a: 1, b: nil) { tracer.in_span("short") { 1 } } } }
        end
        burn(:after, 0.01)
      end
    end
    assert_labels after: {}
  end
end
