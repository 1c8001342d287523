#!/bin/bash
# crun.sh ARGUMENTS...: crun in a mount namespace of its own (`unshare --mount`), with cgroups in the form that it knows even where this
# machine mounts others.
set -eu
if [ "$(stat --file-system --format=%T /sys/fs/cgroup)" != cgroup2fs ]; then
  umount --recursive /sys/fs/cgroup
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi
exec crun --cgroup-manager=disabled "$@"
