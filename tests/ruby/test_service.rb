# frozen_string_literal: true

require "child"
require "push_server"

# The service name of profiles.
class ServiceTest < ChildTest
  # Profiles have the service name of a tracer provider before its first span, also in a forked
  # worker, and whatever the order is in which the provider, the span processor and the session are
  # created.
  def test_profiles_have_the_service_of_a_provider_without_spans
    sdk = <<~'RUBY'
      require "opentelemetry/sdk"
      OpenTelemetry::SDK.configure do |config|
        config.resource = OpenTelemetry::SDK::Resources::Resource.create("service.name" => "shop", "service.namespace" => "eu")
        config.add_span_processor(Spanprof::Otel::SpanProcessor.new)
      end
    RUBY
    later = sdk.sub(/^ +config.add.*\n/, "") + "OpenTelemetry.tracer_provider.add_span_processor(Pyroscope::Otel::SpanProcessor.new)\n"
    start = "Spanprof.start\n"
    [start + sdk, sdk + start, start + later, later + start].each do |code|
      PushServer.run do |server|
        child!(<<~RUBY, env: { "PYROSCOPE_APPLICATION_NAME" => "", "PYROSCOPE_SERVER_ADDRESS" => server.address })
          require "spanprof"
          #{code}
          burn 0.05
          Process.wait(fork { burn 0.05 })
        RUBY
        names = server.uploads.map { |upload| upload.labels.values_at("service_name", "service_namespace") }
        assert_operator names.size, :>=, 2
        assert_equal [%w[shop eu]], names.uniq, code
      end
    end
  end
end
