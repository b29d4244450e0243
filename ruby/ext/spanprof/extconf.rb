# frozen_string_literal: true

# One shared object: the core (its unity file), the hand-written binding and
# the SWIG module. An installed gem carries everything under vendor/; a checkout
# is compiled in place, and generates what the gem carries ready-made.
require "fileutils"
require "mkmf"

vendor = File.expand_path("vendor", __dir__)
packaged = File.directory?(vendor)
root = packaged ? vendor : File.expand_path("../../..", __dir__)
generated = packaged ? "#{vendor}/generated" : File.join(Dir.pwd, "generated")

unless packaged
  FileUtils.mkdir_p(generated)
  system("protoc-c", "--proto_path=#{root}/core/proto", "--c_out=#{generated}",
         "profile.proto", "push.proto", exception: true)
  system("swig", "-ruby", "-Wall", "-Werror", "-initname", "spanprof_swig",
         "-o", "#{generated}/spanprof_wrap_rb.c", "#{root}/swig/spanprof.i", exception: true)
end

append_cflags(%w[-std=gnu11 -fvisibility=hidden])
$defs << "-D_GNU_SOURCE" << "-DSPANPROF_STATIC"
$VPATH << "#{root}/core/src" << "#{root}/bindings/ruby" << generated
%w[core/include core/src bindings/ruby swig swig/lang].each { |folder| $INCFLAGS << " -I#{root}/#{folder}" }
$INCFLAGS << " -I#{generated}"
$srcs = ["spanprof_unity.c", "command_unity.c", "spanprof_wrap_rb.c",
         *Dir["#{root}/bindings/ruby/*.c"].map { |path| File.basename(path) }]

%w[libcurl libprotobuf-c zlib].each { |package| pkg_config(package) }
create_makefile("spanprof/spanprof_native")
