# frozen_string_literal: true

module Spanprof
  module Otel
    # Connects CPU profiles with spans: decides which id and name the samples of a span have, and
    # sets the attributes by which a trace links to its profile. Add it to the SDK; nothing else is
    # needed. It never raises.
    #
    # @example
    #   OpenTelemetry::SDK.configure
    #   OpenTelemetry.tracer_provider.add_span_processor Spanprof::Otel::SpanProcessor.new
    class SpanProcessor
      # OpenTelemetry::SDK::Trace::Export::SUCCESS of all versions of the SDK.
      SUCCESS = 0

      # The options and their defaults. Each can also be set later, for spans that start afterwards.
      OPTIONS = {
        application_name: nil, server_address: nil, root_span_only: true, add_span_name: true, add_url: :auto,
        add_baseline_urls: false, baseline_labels: nil, add_trace_id: false, url_template: nil,
        legacy_span_label: false, span_id_label: false
      }.freeze

      # Maps names of options in the gem pyroscope-otel to the names that the options have here.
      OLD_NAMES = { app_name: :application_name, pyroscope_endpoint: :server_address }.freeze
      private_constant :OPTIONS, :OLD_NAMES

      # @!attribute application_name
      #   @return [String, nil] "rideshare.cpu", for URLs; nil for the session's application name; also `app_name`
      # @!attribute server_address
      #   @return [String, URI, nil] for URLs; nil for the session's server address; also `pyroscope_endpoint`
      # @!attribute root_span_only
      #   @return [Boolean] (true) samples have the id and name of the local root span; otherwise of the innermost span
      # @!attribute add_span_name
      #   @return [Boolean] (true) samples have the label span_name
      # @!attribute add_url
      #   @return [Boolean, Symbol] whether spans get the attribute pyroscope.profile.url; :auto, the default: if the
      #     session's server reports that it can open the link, or there is a url_template
      # @!attribute add_baseline_urls
      #   @return [Boolean] (false) spans also get pyroscope.profile.baseline.url and pyroscope.profile.diff.url
      # @!attribute baseline_labels
      #   @return [Hash, String, nil] labels of the baseline's query, also as "name=value,name=value"
      # @!attribute add_trace_id
      #   @return [Boolean] (false) samples have the label trace_id; before Pyroscope 2.1 each trace then becomes a
      #     series
      # @!attribute url_template
      #   @return [String, nil] your own URL: {app}, {server}, {query}, {profile_id}, {trace_id}, {span_name},
      #     {from}, {until} (in s), {from_ms}, {until_ms} are replaced
      # @!attribute legacy_span_label
      #   @return [Boolean] (false) the label of the name is `span`, as in the gem pyroscope-otel
      # @!attribute span_id_label
      #   @return [Boolean] (false) the label of the id is `span_id` instead of `profile_id`
      OPTIONS.each_key do |option|
        attr_reader option

        define_method(:"#{option}=") do |value|
          instance_variable_set(:"@#{option}", value)
          @rules = nil
        end
      end

      OLD_NAMES.each do |old, option|
        alias_method old, option
        alias_method :"#{old}=", :"#{option}="
      end

      # @param application_name [String, nil]
      # @param server_address [String, URI, nil]
      # @param options [Hash] any of the attributes
      # @raise [ArgumentError] an option is not one of the attributes
      def initialize(application_name = nil, server_address = nil, **options)
        options.transform_keys!(OLD_NAMES)
        given = { application_name: application_name, server_address: server_address }.compact.merge(options)
        Options.check_names(given.keys, OPTIONS.keys)
        OPTIONS.merge(given).each { |option, value| instance_variable_set(:"@#{option}", value) }
        @rules = nil
        Otel.install
        ResourceHook.install
        Session.instrument # label frameworks that were loaded after the session started
      end

      # @param span [OpenTelemetry::SDK::Trace::Span]
      # @param parent_context [OpenTelemetry::Context]
      def on_start(span, parent_context)
        followed = follow_span unless LOAD_ERROR
        return unless followed

        ResourceHook.report(span) if followed == :first
        context = span.context
        label_span(span, parent_context, @rules || new_rules(span), span.name, context.trace_id, context.span_id,
                   span.parent_span_id, context.trace_flags)
      rescue *OURS => e
        Logging.log_error_once(:warn, "a span is not labelled", e)
      end

      if LOAD_ERROR
        # @param span [OpenTelemetry::SDK::Trace::Span]
        def on_finish(span); end
      else
        # on_finish and the private methods follow_span and label_span are in C
        include Native::SpanHook
      end

      # Does nothing: profiles are uploaded at their own interval.
      # @return [Integer] success
      def force_flush(timeout: nil)
        SUCCESS
      end

      # @return [Integer] success
      def shutdown(timeout: nil)
        SUCCESS
      end

      private

      # Called when the first span starts. If an option is invalid, this is logged once, and the
      # default rules are used. An option can be any object, and its methods may raise any
      # exception.
      def new_rules(span)
        RenameHook.follow(span.class)
        AttributeHook.follow(span.class)
        Session.uninterrupted do
          @rules = rules_of_options
        rescue StandardError, ScriptError => e
          Logging.log_once(:warn, "the options for spans are invalid, so the defaults are used: #{Logging.message_of(e)}")
          @rules = Native::SpanRules.new({})
        end
      end

      def rules_of_options
        options = OPTIONS.to_h { |option, _| [option, public_send(option)] }
        Native::SpanRules.new(options.merge(baseline_labels: baseline_text))
      end

      def baseline_text
        return baseline_labels unless baseline_labels.respond_to?(:to_hash)

        text = baseline_labels.to_hash.map { |name, value| "#{name}=#{value}" }.join(",")
        text unless text.empty?
      end
    end
  end
end
