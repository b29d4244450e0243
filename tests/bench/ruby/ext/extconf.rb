# frozen_string_literal: true

require "mkmf"

append_cflags(["-std=gnu11", "-O2"])
have_library("pthread") or abort "no libpthread"
create_makefile("bench_native")
