#!/bin/bash
# run-inside.sh ROOT WORKDIR COMMAND SHARED...: runs a command of a Dockerfile in the files of its stage, in a mount namespace of its own
# (`unshare --mount`). The paths SHARED are those of this machine.
set -euo pipefail
root=$1 workdir=$2 command=$3
shift 3
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
for path in "$@"; do
  [ -e "$path" ] || continue
  if [ -d "$path" ]; then mkdir -p "$root$path"; else touch "$root$path"; fi
  mount --bind "$path" "$root$path"
done
exec chroot "$root" /bin/sh -ec "cd $workdir; $command"
