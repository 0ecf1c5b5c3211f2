#!/bin/sh
# Installs prosescope for the current user. `cargo xtask dist` replaces the placeholders between at signs.

set -eu

version='@VERSION@'

usage() {
    cat <<'END'
Installs prosescope for the current user, as one file in ~/.local/bin.

Usage: sh install.sh [--from FOLDER|URL] [--to FOLDER]

  --from  where the archive and SHA256SUMS are [default: the project's releases]
  --to    the folder to install into [default: ~/.local/bin]
  --help  print this
END
}

fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for next; do printf '  → %s\n' "$next" >&2; done
    exit 1
}

# The target of this machine, as archives are named.
target() {
    system=$(uname -s) processor=$(uname -m)
    case $processor in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) fail "there is no prosescope for the processor $processor" 'build it from source: cargo xtask install' ;;
    esac
    case $system in
        Linux) echo "$processor-unknown-linux-musl" ;;
        Darwin) echo "$processor-apple-darwin" ;;
        *) fail "this script does not install on $system" 'on Windows use install.ps1' 'build it from source: cargo xtask install' ;;
    esac
}

# Copies the file $1 of the release into the folder $2.
get() {
    case $from in
        http://* | https://*)
            if command -v curl >/dev/null; then
                curl -fsSL --retry 3 -o "$2/$1" "$from/$1"
            elif command -v wget >/dev/null; then
                wget -q -O "$2/$1" "$from/$1"
            else
                fail 'neither curl nor wget is installed' 'install one of them, or download the files and use --from FOLDER'
            fi
            ;;
        *)
            [ -d "$from" ] || fail "there is no folder $from" 'name the folder of a release with --from'
            [ -f "$from/$1" ] || fail "the folder $from does not contain $1" 'name the folder of a release with --from'
            cp "$from/$1" "$2/$1"
            ;;
    esac || fail "cannot get $1 from $from" 'check the address and the connection'
}

sum() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    else
        fail 'neither sha256sum nor shasum is installed' 'install one of them: the download is not used unchecked'
    fi | cut -d ' ' -f 1
}

main() {
    from="@REPOSITORY@/releases/download/v$version"
    to=${HOME:?}/.local/bin
    while [ $# -gt 0 ]; do
        case $1 in
            --from | --to)
                [ $# -gt 1 ] || fail "$1 needs a value"
                if [ "$1" = --from ]; then from=$2; else to=$2; fi
                shift 2
                ;;
            --help | -h)
                usage
                exit
                ;;
            *) fail "unknown argument $1" '--help lists the arguments' ;;
        esac
    done
    case $version in
        [0-9]*) ;;
        *) fail 'this install.sh is a template without a version' \
            'cargo xtask dist fills it in, and writes it beside the archives' \
            'to install from a checkout: cargo xtask install' ;;
    esac
    case $from in
        *.invalid/*) fail 'this copy of install.sh has no address to download from' 'name one with --from FOLDER|URL' ;;
    esac

    target=$(target)
    archive=prosescope-$target.tar.xz
    work=$(mktemp -d)
    new=
    trap 'rm -rf "$work" ${new:+"$new"}' EXIT
    trap 'exit 130' INT TERM

    get SHA256SUMS "$work"
    get "$archive" "$work"
    wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
    [ -n "$wanted" ] || fail "SHA256SUMS does not list $archive" "check that $from is a release of prosescope"
    found=$(sum "$work/$archive")
    [ "$found" = "$wanted" ] || fail "$archive is damaged: its sum is $found, and SHA256SUMS says $wanted" 'download it again'

    tar -xJf "$work/$archive" -C "$work" || fail "cannot unpack $archive" 'install xz (Debian: xz-utils), which tar needs'
    mkdir -p "$to"
    [ ! -d "$to/prosescope" ] || fail "$to/prosescope is a folder" 'name another folder with --to, or move it away'
    # Under another name first, which mktemp makes anew and follows no link: what is there is replaced only by a program
    # that starts, and a program that runs is not overwritten.
    new=$(mktemp "$to/.prosescope.XXXXXX")
    cp "$work/prosescope-$target/prosescope" "$new"
    chmod 755 "$new"
    "$new" --version >/dev/null || fail "the new program does not start; nothing was replaced" 'report this with what uname -a prints'
    mv -f "$new" "$to/prosescope"

    echo "Installed prosescope $version as $to/prosescope. To remove it, delete that file."
    case :$PATH: in
        *:"$to":*) ;;
        *) echo "$to is not in PATH. Add it: export PATH=\"$to:\$PATH\"" ;;
    esac
    echo 'Completion of commands and run ids in your shell: prosescope completions --help'
}

# At the end, so that nothing runs of a script that was downloaded in part.
main "$@"
