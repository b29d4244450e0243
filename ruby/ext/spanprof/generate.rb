# frozen_string_literal: true

require "fileutils"

# Generate the SWIG module and the code of the protobuf messages. A gem contains the generated
# files; in a checkout, the build generates them.
# @param root [String] folder of the checkout
# @param folder [String] destination
def generate(root, folder)
  FileUtils.mkdir_p(folder)
  [["protoc-c", "--proto_path=#{root}/core/proto", "--c_out=#{folder}", "profile.proto", "push.proto"],
   ["swig", "-ruby", "-Wall", "-Werror", "-initname", "spanprof_swig", "-o", "#{folder}/spanprof_wrap_rb.c",
    "#{root}/swig/spanprof.i"]].each { |command| system(*command, exception: true) }
end
