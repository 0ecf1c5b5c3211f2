//! Finds the file system of a path in Linux's `/proc/self/mountinfo`.
//!
//! `statfs` is not used, because it returns the same number for virtiofs and for every other FUSE file system.
//! `mountinfo` contains the type's name.

/// Returns the type of the file system of an absolute path. The caller must have resolved links.
///
/// ```
/// use prosescope_core::upkeep::doctor::mounts::file_system;
/// let table = "27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 0:40 / /mnt/my\\040share rw,relatime shared:1 - virtiofs share rw\n";
/// assert_eq!(file_system(table, "/home/me"), Some("ext4"));
/// assert_eq!(file_system(table, "/mnt/my share/run"), Some("virtiofs"));
/// ```
pub fn file_system<'t>(mountinfo: &'t str, path: &str) -> Option<&'t str> {
    let mut best: Option<(usize, &str)> = None;
    for line in mountinfo.lines() {
        let Some((before, after)) = line.split_once(" - ") else {
            continue;
        };
        let (Some(point), Some(kind)) = (
            before.split(' ').nth(4),
            after.split(' ').next().filter(|kind| !kind.is_empty()),
        ) else {
            continue;
        };
        let point = unescape(point);
        let inside = match path.strip_prefix(point.trim_end_matches('/')) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        };
        // If two mounts have the same path, the later one hides the earlier.
        if inside && best.is_none_or(|(len, _)| point.len() >= len) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Resolves the escapes of a mount table, which writes blanks as `\040` and a backslash as `\134`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after
            .get(..3)
            .and_then(|code| u8::from_str_radix(code, 8).ok());
        match code {
            Some(code) if code.is_ascii() => {
                out.push(char::from(code));
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns whether files of this file system are on another machine or outside the machine's own kernel. SQLite's locks
/// and shared memory are not reliable there (errata R2: WAL corrupted silently on virtiofs, 9p and NFS).
pub fn is_remote(kind: &str) -> bool {
    const REMOTE: [&str; 22] = [
        "9p",
        "afpfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "drvfs",
        "fakeowner",
        "glusterfs",
        "grpcfuse",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    ];
    // Other FUSE file systems (sshfs, vmhgfs-fuse, rclone …) count as remote: some are local, but the name does not
    // show which.
    let own = ["fuseblk", "fuse.lxcfs", "fusectl"];
    REMOTE.contains(&kind) || (kind.starts_with("fuse") && !own.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 27 0:50 / /work rw - 9p share rw,trans=virtio
32 27 0:51 / /work/local rw master:2 shared:7 - tmpfs tmpfs rw
33 32 0:52 / /work/local rw - xfs /dev/vdb rw
34 27 0:53 / /odd\\134\\011name rw - nfs4 host:/x rw
broken line
35 27";

    #[test]
    fn the_innermost_and_newest_mount_counts() {
        for (path, kind) in [
            ("/", Some("ext4")),
            ("/workshop/x", Some("ext4")),
            ("/work", Some("9p")),
            ("/work/a/b", Some("9p")),
            ("/work/local/run", Some("xfs")),
            ("/odd\\\tname/run", Some("nfs4")),
        ] {
            assert_eq!(file_system(TABLE, path), kind, "{path}");
        }
        assert_eq!(file_system("", "/x"), None);
    }

    #[test]
    fn remote_is_what_has_no_locks_of_this_kernel() {
        for (kind, remote) in [
            ("ext4", false),
            ("btrfs", false),
            ("overlay", false),
            ("tmpfs", false),
            ("fuseblk", false),
            ("apfs", false),
            ("virtiofs", true),
            ("9p", true),
            ("nfs4", true),
            ("fuse.sshfs", true),
            ("fuse", true),
            ("cifs", true),
        ] {
            assert_eq!(is_remote(kind), remote, "{kind}");
        }
    }
}
