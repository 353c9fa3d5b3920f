#!/usr/bin/env bash
# A command on a later system, by hand: a commit's files in a folder of that system's (debootstrap, as root).
# The tests take an hour of two cores there and 6 GB. Signatures of the system's packages are checked, as they
# come over http: by the keys that Debian has, for Ubuntu by its archive's key of 2018.
#
#   scripts/systems.sh trixie|sid|noble [COMMAND...]     default: scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

system=${1:?"expected trixie, sid (Debian) or noble (Ubuntu 24.04)"}
shift
root=$PWD/build/systems/$system
if [ ! -e "$root/specdec" ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap gpg gpgv curl debian-archive-keyring >/dev/null
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    what=("$system" "$root" http://deb.debian.org/debian)
    if [ "$system" = noble ]; then # Debian 12 has neither its script nor its key
        keys=$(mktemp -d)
        trap 'rm -rf "$keys"' EXIT
        ubuntu=http://archive.ubuntu.com/ubuntu
        curl -sSf -o "$keys/deb" $ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb
        dpkg -x "$keys/deb" "$keys"
        gpg --homedir "$keys" --batch --quiet --import "$keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
        # Wherever they came from: of these keys the one with this fingerprint.
        key=$keys/key.gpg
        gpg --homedir "$keys" --batch --export F6ECB3762474EDA9D21B7022871920D1991BC93C > "$key"
        what=(--components=main,universe noble "$root" $ubuntu /usr/share/debootstrap/scripts/gutsy)
    fi
    debootstrap --variant=minbase --force-check-gpg --keyring="$key" "${what[@]}"
    rm -rf "${keys:-}"
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
