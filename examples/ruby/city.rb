# frozen_string_literal: true

# A grid of streets with traffic, and the vehicles on it.
class City
  SIZE = 48
  # The differences between the numbers of a crossing and of its neighbours.
  STEPS = [1, -1, SIZE, -SIZE].freeze

  Vehicle = Struct.new(:id, :kind, :crossing)

  # Number of seconds between adjacent crossings if there is no traffic.
  PACE = { "bike" => 30, "scooter" => 22, "car" => 14 }.freeze

  # Number of vehicles to examine for an order. It is highest for cars, because traffic makes a car
  # slower than its distance suggests.
  CANDIDATES = { "bike" => 2, "scooter" => 4, "car" => 9 }.freeze

  def initialize(random: Random.new(7))
    @delays = Array.new(SIZE * SIZE) { random.rand(1..9) }
    @vehicles = PACE.keys.to_h do |kind|
      [kind, Array.new(120) { |id| Vehicle.new(id, kind, random.rand(SIZE * SIZE)) }]
    end
  end

  # @return [Array(Vehicle, Array<Integer>, Integer)] the vehicle that arrives first, its crossings
  #   and the number of seconds
  def nearest(kind, crossing)
    closest = @vehicles.fetch(kind).min_by(CANDIDATES.fetch(kind)) { |vehicle| distance(vehicle.crossing, crossing) }
    closest.map { |vehicle| [vehicle, *route(vehicle.crossing, crossing, PACE.fetch(kind))] }.min_by(&:last)
  end

  # Dijkstra's algorithm, with a bucket for each second.
  # @return [Array(Array<Integer>, Integer)] the crossings of the route, and its duration in seconds
  def route(from, to, pace)
    known = { from => 0 }
    before = {}
    buckets = Hash.new { |hash, seconds| hash[seconds] = [] }
    buckets[seconds = 0] << from
    loop do
      seconds += 1 while buckets[seconds].empty?
      crossing = buckets[seconds].pop
      break if crossing == to
      next if known[crossing] < seconds

      neighbours(crossing).each do |neighbour|
        reached = seconds + pace + @delays[neighbour]
        next unless reached < known.fetch(neighbour, Float::INFINITY)

        known[neighbour] = reached
        before[neighbour] = crossing
        buckets[reached] << neighbour
      end
    end
    [way(before, from, to), seconds]
  end

  private

  def distance(one, other)
    ((one / SIZE) - (other / SIZE)).abs + ((one % SIZE) - (other % SIZE)).abs
  end

  def neighbours(crossing)
    STEPS.filter_map do |step|
      neighbour = crossing + step
      neighbour if neighbour.between?(0, (SIZE * SIZE) - 1) && distance(crossing, neighbour) == 1
    end
  end

  def way(before, from, to)
    crossings = [to]
    crossings << before.fetch(crossings.last) until crossings.last == from
    crossings.reverse
  end
end
