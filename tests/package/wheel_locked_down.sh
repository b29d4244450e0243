#!/usr/bin/env bash
# wheel_locked_down.sh: checks that a program is profiled, and its profiles
# uploaded, as the user nobody, without a home directory, on a read-only file
# system.
source "$(dirname "$0")/common.sh"
python3 -m zipfile -e build/wheels/"$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"/*.whl "$work/packages"
chmod -R a+rX "$work/packages"
box=("PYTHONPATH=$work/packages")

cat > "$work/app.py" << 'EOF'
import os
import sys
import time
import spanprof

assert spanprof.start(application_name="locked", server_address=sys.argv[1]), spanprof.unavailable_reason()
while time.process_time() < 0.5:
    pass
spanprof.flush()
stats = spanprof.stats()
print(f"uid {os.getuid()}: {stats['samples_exported']} samples, {stats['profiles_sent']} profiles sent")
assert stats["profiles_sent"] > 0 and stats["samples_exported"] > 0
EOF
chmod a+r "$work/app.py"
run() {
  in_a_box /usr/bin/python3 "$work/app.py" "$sink"
}
with_sink run
