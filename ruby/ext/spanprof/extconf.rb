# frozen_string_literal: true

# One shared object: the core and its command (their unity files), the
# hand-written binding and the SWIG module. An installed gem carries everything
# under vendor/; a checkout is compiled in place.
#
# An installation never fails because of us: what cannot be compiled here leaves
# lib/spanprof/skipped_reason.txt instead, which Spanprof.unavailable_reason
# tells. With SPANPROF_REQUIRED=1 it fails.

REASON = "skipped_reason.txt"
REQUIRED = ENV["SPANPROF_REQUIRED"] == "1"
VENDOR = File.expand_path("vendor", __dir__)
PACKAGED = File.directory?(VENDOR)
ROOT = PACKAGED ? VENDOR : File.expand_path("../../..", __dir__)
FOLDERS = %w[core/include core/src bindings/ruby swig swig/lang].freeze

# pkg-config's name, then library, function, header and Debian's package.
LIBRARIES = [
  ["libcurl", "curl", "curl_easy_init", "curl/curl.h", "libcurl4-openssl-dev"],
  ["zlib", "z", "deflate", "zlib.h", "zlib1g-dev"],
  ["libprotobuf-c", "protobuf-c", "protobuf_c_message_pack", "protobuf-c/protobuf-c.h", "libprotobuf-c-dev"]
].freeze

# Where make fails all the same, the gem is installed with that reason. Objects
# are of no use once the library is in its place. RubyGems says where that is in
# RbConfig, later ones by a variable of make.
TOLERANT = <<~MAKEFILE
  sitearchdir = #{RbConfig.expand(RbConfig::MAKEFILE_CONFIG["sitearchdir"].dup)}
  all:
  	@$(MAKE) -f Makefile.native all || echo "it could not be compiled: see the output of its installation" > #{REASON}
  install:
  	@if test -f #{REASON}; then mkdir -p "$(DESTDIR)$(sitearchdir)/spanprof" && \\
  	  cp #{REASON} "$(DESTDIR)$(sitearchdir)/spanprof/"; \\
  	else $(MAKE) -f Makefile.native install && rm -f *.o *.so; fi
  clean:
  	@:
MAKEFILE

def skip(reason)
  abort "spanprof: #{reason}" if REQUIRED
  warn "spanprof is installed, but cannot profile: #{reason}."
  File.write(REASON, "#{reason}\n")
  File.write("Makefile", TOLERANT.sub(/^\t.*Makefile\.native all.*/, "\t@:"))
  exit
end

skip("#{RUBY_ENGINE} is not supported: profiling needs CRuby") unless RUBY_ENGINE == "ruby"

begin
  require "mkmf"
rescue SystemExit
  skip("Ruby's own headers are missing (Debian: ruby-dev)")
end

begin
  try_compile("int main(void) { return 0; }") || skip("no C compiler works (Debian: gcc libc6-dev)")
rescue RuntimeError
  skip("no C compiler works (Debian: gcc libc6-dev)")
end
LIBRARIES.each do |package, library, function, header, debian|
  pkg_config(package)
  next if have_header(header) && have_library(library, function, header)

  skip("#{header} or its library is missing (Debian: #{debian})")
end
have_header("libunwind.h")

if PACKAGED
  generated = "#{VENDOR}/generated"
elsif File.directory?("#{ROOT}/core")
  require_relative "generate"
  generated = File.join(Dir.pwd, "generated")
  generate(ROOT, generated)
else
  skip("this gem was built without its sources (rake gem packs them)")
end

append_cflags(%w[-std=gnu11 -fvisibility=hidden -fstack-protector-strong -Werror=implicit-function-declaration])
# A signal that is under way when the library is unloaded still finds the
# handler's code, which must never enter the lazy resolver either.
append_ldflags(%w[-Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,noexecstack -Wl,--exclude-libs,ALL])
append_ldflags("-Wl,--version-script=#{ROOT}/bindings/ruby/exports.map")
$defs << "-U_FORTIFY_SOURCE" << "-D_FORTIFY_SOURCE=2" if $CFLAGS.match?(/-O[1-9s]/)
$defs << "-D_GNU_SOURCE" << "-DSPANPROF_STATIC"
$INCFLAGS << FOLDERS.map { |folder| " -I#{ROOT}/#{folder}" }.join << " -I#{generated}"
$VPATH.push("#{ROOT}/core/src", "#{ROOT}/bindings/ruby", generated)
$srcs = %w[spanprof_unity.c command_unity.c spanprof_wrap_rb.c] +
        Dir.children("#{ROOT}/bindings/ruby").grep(/\.c\z/).sort

create_makefile("spanprof/spanprof_native")
if PACKAGED && !REQUIRED
  File.rename("Makefile", "Makefile.native")
  File.write("Makefile", TOLERANT)
end
