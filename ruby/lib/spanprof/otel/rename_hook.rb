# frozen_string_literal: true

module Spanprof
  module Otel
    # Prepended to the SDK's span: a span that is renamed while it runs (a web
    # framework knows the route late) has its new name in the running window.
    # @api private
    module RenameHook
      def name=(name)
        super
        Native.span_rename(self)
      end
    end
  end
end
