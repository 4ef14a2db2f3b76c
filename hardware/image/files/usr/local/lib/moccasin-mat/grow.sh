#!/bin/sh
# Lets the card's last partition reach to the card's end; systemd then lets its file system grow into it.
set -eu
# any partition of the card's; /dev/moccasin-mat is not there before udev is
partition=$(basename "$(readlink -f "${1:-/sys/dev/block/$(findmnt --noheadings --output MAJ:MIN / | tr -d ' ')}")")
disk=$(basename "$(readlink -f "/sys/class/block/$partition/..")")
number=3
for file in "/sys/class/block/$disk"/*/partition; do
    if [ "$(cat "$file")" = "$number" ]; then partition=$(basename "${file%/partition}"); fi
done
end=$(($(cat "/sys/class/block/$partition/start") + $(cat "/sys/class/block/$partition/size")))
room=$(($(cat "/sys/class/block/$disk/size") - end))
if [ "$room" -lt 16384 ]; then  # 8 MiB: it reaches there already
    exit 0
fi
echo ', +' | sfdisk --quiet --force --no-reread --no-tell-kernel -N "$number" "/dev/$disk"
partx --update --nr "$number" "/dev/$disk"
