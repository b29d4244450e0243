# frozen_string_literal: true

require "fileutils"

# Write what gems carry ready-made, and checkouts make when they are built: the
# SWIG module and the protobuf messages.
# @param root [String] of the checkout
# @param folder [String] where to
def generate(root, folder)
  FileUtils.mkdir_p(folder)
  [["protoc-c", "--proto_path=#{root}/core/proto", "--c_out=#{folder}", "profile.proto", "push.proto"],
   ["swig", "-ruby", "-Wall", "-Werror", "-initname", "spanprof_swig", "-o", "#{folder}/spanprof_wrap_rb.c",
    "#{root}/swig/spanprof.i"]].each { |command| system(*command, exception: true) }
end
