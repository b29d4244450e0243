# frozen_string_literal: true

require "erb"
require "json"
require "sinatra/base"
require "zlib"
require_relative "city"
require_relative "profiling"

# A service that orders rides. Three of its routes find a vehicle; the fourth one writes a receipt
# and compresses a copy of the receipt on another thread.
class Rideshare < Sinatra::Base
  CITY = City.new
  RECEIPT = ERB.new(<<~HTML, trim_mode: "-")
    <h1>Ride <%= number %></h1>
    <ol>
    <% crossings.each do |crossing| -%>
      <li><%= format("%02d/%02d", crossing / City::SIZE, crossing % City::SIZE) %></li>
    <% end -%>
    </ol>
    <p><%= seconds %> s</p>
  HTML

  configure do
    set :environment, :production
    disable :logging
  end

  City::PACE.each_key do |kind|
    get("/#{kind}/:crossing") { order(kind, Integer(params["crossing"])) }
  end

  get "/receipts/:number" do
    number = Integer(params["number"])
    crossings, seconds = CITY.route(number % (City::SIZE**2), 0, 14)
    page = RECEIPT.result_with_hash(number: number, crossings: crossings, seconds: seconds)
    kept = archive(page)
    headers "Content-Type" => "text/html", "X-Archived-Bytes" => kept.value.to_s
    page
  end

  private

  def order(kind, crossing)
    vehicle, crossings, seconds = CITY.nearest(kind, crossing)
    content_type :json
    JSON.generate(vehicle: vehicle.to_h, price: price(crossings, seconds), route: crossings)
  end

  def price(crossings, seconds)
    crossings.each_cons(2).sum { |from, to| (from - to).abs == 1 ? 0.11 : 0.13 } + (seconds * 0.004)
  end

  # Compresses the page on another thread. The thread has the context of the request, so that its
  # samples belong to the request's span.
  def archive(page)
    context = OpenTelemetry::Context.current
    Thread.new do
      OpenTelemetry::Context.with_current(context) { Zlib::Deflate.deflate(page * 60, 9).bytesize }
    end
  end
end
