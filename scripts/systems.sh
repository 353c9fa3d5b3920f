#!/usr/bin/env bash
# A command on a later system, by hand: a commit's files in a folder of that system's (debootstrap, as root).
# The tests take an hour of two cores there and 6 GB.
#
#   scripts/systems.sh trixie|sid|noble [COMMAND...]     default: scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

system=${1:?"expected trixie, sid (Debian) or noble (Ubuntu 24.04)"}
shift
root=$PWD/build/systems/$system
if [ ! -e "$root/specdec" ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap >/dev/null
    what=("$system" "$root" http://deb.debian.org/debian)
    if [ "$system" = noble ]; then # Debian 12 has neither its script nor its key
        what=(--no-check-gpg --components=main,universe noble "$root" http://archive.ubuntu.com/ubuntu
              /usr/share/debootstrap/scripts/gutsy)
    fi
    debootstrap --variant=minbase "${what[@]}"
    echo 'Acquire::Check-Valid-Until "false";' > "$root/etc/apt/apt.conf.d/late-mirror"
    mkdir "$root/specdec"
fi
git archive HEAD | tar -x -C "$root/specdec"
cp /etc/resolv.conf "$root/etc/"
# Whatever fails: who deletes build/ must not meet this machine's /dev there.
trap 'for folder in proc dev sys; do ! mountpoint -q "$root/$folder" || umount -R "$root/$folder"; done' EXIT
for folder in proc dev sys; do
    mount --rbind "/$folder" "$root/$folder"
    mount --make-rslave "$root/$folder"
done
chroot "$root" sh -c 'cd /specdec && "$@"' sh "${@:-scripts/test.sh}"
