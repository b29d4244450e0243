# frozen_string_literal: true

require "stringio"
require "zlib"

# Reads the profiles of an output directory (`*.pb.gz`, gzip-compressed pprof) into samples. Decodes
# the few protobuf fields by hand, so that a test needs no gem and shares no code with the encoder
# that it tests. Field numbers: https://github.com/google/pprof/blob/main/proto/profile.proto
class ProfileReader
  # One sample: the names of its frames, innermost first, its labels (the value of a text label is a
  # String, that of a numeric label an Integer), and its CPU time in nanoseconds.
  Sample = Struct.new(:stack, :labels, :cpu_ns, :frames, keyword_init: true) do
    # @return [String, nil] the name of the innermost frame
    def leaf = stack.first

    # @return [Boolean] whether the name of one of the frames matches
    def in?(name) = stack.any? { |frame| name === frame }
  end

  Frame = Struct.new(:function, :file, :line, :start_line, keyword_init: true)

  WIRE_VARINT = 0
  WIRE_FIXED64 = 1
  WIRE_BYTES = 2

  # @param directory [String] an output_directory
  # @return [Array<Sample>] samples of all its profiles, in the order of their names
  def self.samples(directory)
    Dir["#{directory}/*.pb.gz"].sort.flat_map { |path| new(File.binread(path)).samples }
  end

  # @param bytes [String] one profile, gzip-compressed or not
  # @param value [String, nil] type of the value to read as CPU time; nil for the first value
  def initialize(bytes, value: nil)
    bytes = Zlib::GzipReader.new(StringIO.new(bytes)).read if bytes.start_with?("\x1f\x8b".b)
    @strings = []
    @functions = {}
    @locations = {}
    @raw_samples = []
    @value_types = []
    read(bytes)
    @cpu_index = value ? value_types.index { |type, _| type == value } : 0
  end

  # @return [Array<Sample>]
  def samples
    @samples ||= @raw_samples.map { |raw| sample(raw) }
  end

  # @return [Array<Array(String, String)>] type and unit of each value of a sample
  def value_types = @value_types.map { |type, unit| [@strings[type], @strings[unit]] }

  # @return [Integer] start of the window in ns of Unix time, and its length in ns
  attr_reader :time_ns, :duration_ns

  # @return [Integer] ns of CPU time between two samples
  attr_reader :period_ns

  private

  # Yields the number and the value of each field. A value is an Integer or a binary String.
  def each_field(bytes)
    at = 0
    while at < bytes.bytesize
      key, at = varint(bytes, at)
      case key & 7
      when WIRE_VARINT
        value, at = varint(bytes, at)
      when WIRE_FIXED64
        value = bytes.byteslice(at, 8).unpack1("Q<")
        at += 8
      when WIRE_BYTES
        size, at = varint(bytes, at)
        value = bytes.byteslice(at, size)
        at += size
      else
        raise "wire type #{key & 7} at #{at}"
      end
      yield key >> 3, value
    end
  end

  def varint(bytes, at)
    value = shift = 0
    loop do
      byte = bytes.getbyte(at) or raise "cut varint at #{at}"
      at += 1
      value |= (byte & 0x7f) << shift
      return [value, at] if byte < 0x80

      shift += 7
    end
  end

  # Returns the elements of a repeated number, which protobuf encodes as one packed field or as a
  # field for each element.
  def numbers(value)
    return [value] if value.is_a?(Integer)

    at = 0
    list = []
    while at < value.bytesize
      number, at = varint(value, at)
      list << number
    end
    list
  end

  def signed(value) = value >= 1 << 63 ? value - (1 << 64) : value

  def read(bytes)
    each_field(bytes) do |field, value|
      case field
      when 1 then @value_types << pair(value)
      when 2 then @raw_samples << value
      when 4 then read_location(value)
      when 5 then read_function(value)
      when 6 then @strings << value.dup.force_encoding(Encoding::UTF_8)
      when 9 then @time_ns = value
      when 10 then @duration_ns = value
      when 12 then @period_ns = value
      end
    end
  end

  def pair(bytes)
    type = unit = 0
    each_field(bytes) { |field, value| field == 1 ? type = value : unit = value }
    [type, unit]
  end

  def read_function(bytes)
    fields = Hash.new(0)
    each_field(bytes) { |field, value| fields[field] = value }
    @functions[fields[1]] = fields
  end

  def read_location(bytes)
    id = address = 0
    lines = []
    each_field(bytes) do |field, value|
      case field
      when 1 then id = value
      when 3 then address = value
      when 4
        line = Hash.new(0)
        each_field(value) { |part, number| line[part] = number }
        lines << [line[1], signed(line[2])]
      end
    end
    @locations[id] = [address, lines]
  end

  def frames_of(location)
    address, lines = @locations.fetch(location)
    return [Frame.new(function: format("0x%x", address))] if lines.empty?

    lines.map do |id, line|
      function = @functions.fetch(id)
      Frame.new(function: @strings[function[2]], file: @strings[function[4]],
                line: line, start_line: signed(function[5]))
    end
  end

  def sample(bytes)
    locations = []
    values = []
    labels = {}
    each_field(bytes) do |field, value|
      case field
      when 1 then locations.concat(numbers(value))
      when 2 then values.concat(numbers(value))
      when 3 then read_label(value, labels)
      end
    end
    frames = locations.flat_map { |location| frames_of(location) }
    Sample.new(stack: frames.map(&:function), labels: labels, cpu_ns: signed(values.fetch(@cpu_index)),
               frames: frames)
  end

  def read_label(bytes, labels)
    label = Hash.new(0)
    each_field(bytes) { |field, value| label[field] = value }
    labels[@strings[label[1]]] = label.key?(2) ? @strings[label[2]] : signed(label[3])
  end
end
