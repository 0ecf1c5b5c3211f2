//! `cargo xtask dist --check`: uses the built files of a release as people would, in an environment without Rust,
//! libraries or other files.

mod crates;
mod npm;
mod root;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use root::TemporaryRoot;

use super::{LINUX, archive, files, tools};
use crate::bundle::SERVED;
use xtask::step::{run, step};

/// The beginning of the id of the example run that the checks show.
const RUN: &str = "20260118";

/// A text that the program must print about the example run.
const SHOWN: &str = "Failed at line 38";

/// The longest time to wait until a server prints its address.
const PATIENCE: Duration = Duration::from_secs(30);

/// Checks the archives, the installer and the checksums of a finished folder.
///
/// # Errors
/// If one of these files does not work.
pub(crate) fn check(root: &Path, dist: &Path) -> Result<()> {
    let emulator = tools::check()?;
    step("Checking the sums", || {
        run(Command::new("sha256sum")
            .args(["--check", "--quiet", "--strict", files::SUMS])
            .current_dir(dist))
    })?;
    for target in LINUX {
        let archive = dist.join(archive::name(target));
        if target.starts_with(std::env::consts::ARCH) {
            step(&format!("Using {target} in an empty root"), || {
                alone(root, &archive, target)
            })?;
        } else {
            step(&format!("Running {target} in an emulator"), || {
                emulated(root, &archive, target, emulator)
            })?;
        }
    }
    step("Installing by install.sh from a local server", || {
        install(root, dist)
    })?;
    let alone = TemporaryRoot::new(&xtask::cargo::target(root).join("check"))?;
    step("Installing the npm packages in an empty root", || {
        npm::with_program(root, dist, &alone)?;
        npm::without_program(root, dist, &alone)
    })?;
    step("Installing the crates in an empty root", || {
        crates::install(root, dist, &alone)
    })?;
    step("Compiling the tests of the crates", || {
        crates::tests(root, dist, &alone)
    })
}

/// A folder with an unpacked archive and the examples beside it.
struct UnpackedArchive {
    folder: tempfile::TempDir,
    program: PathBuf,
}

fn unpacked(root: &Path, archive: &Path, target: &str) -> Result<UnpackedArchive> {
    let folder = tempfile::tempdir()?;
    archive::unpack(archive, folder.path())?;
    let top = PathBuf::from(format!("prosescope-{target}"));
    for file in [
        "man/prosescope-show.1",
        "completions/_prosescope",
        "LICENSE-MIT",
    ] {
        let file = folder.path().join(&top).join(file);
        ensure!(file.is_file(), "{} is missing", file.display());
    }
    archive::copy_all(&root.join("examples"), folder.path())?;
    Ok(UnpackedArchive {
        folder,
        program: Path::new("/").join(top).join("prosescope"),
    })
}

impl UnpackedArchive {
    /// Returns a command that runs the program with the unpacked folder as its root, and with `PATH` as its only
    /// environment variable.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--map-root-user", "chroot"])
            .arg(self.folder.path())
            .arg(&self.program)
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// Returns the output of the program.
    fn says(&self, args: &[&str]) -> Result<String> {
        said(&mut self.command(args))
    }
}

/// Shows a run, records a run, and serves both kinds of pages, in a root that contains only the unpacked archive.
fn alone(root: &Path, archive: &Path, target: &str) -> Result<()> {
    let unpacked = unpacked(root, archive, target)?;
    contains(&unpacked.says(&["--version"])?, files::VERSION)?;
    contains(&unpacked.says(&["show", RUN])?, SHOWN)?;
    contains(
        &unpacked.says(&["help", "licenses"])?,
        "- musl, the C library",
    )?;

    let made = unpacked.says(&["init", "ship-tax-rules.prose", "--state", "sqlite"])?;
    let run = made.trim();
    let began = unpacked.says(&["begin", "14", "--run", run])?;
    let execution = began
        .split_whitespace()
        .next()
        .context("begin printed nothing")?;
    fs::write(unpacked.folder.path().join("books.txt"), "Books: 10 %\n")?;
    said(
        unpacked
            .command(&["put", "changes", "--into", execution, "--run", run])
            .stdin(fs::File::open(unpacked.folder.path().join("books.txt"))?),
    )?;
    contains(
        &unpacked.says(&["get", "changes", "--run", run])?,
        "Books: 10 %",
    )?;

    serves_the_viewer(&mut unpacked.command(&["view", RUN]))?;
    let page = fs::metadata(archive.with_file_name("viewer.html"))?.len();
    ensure!(page > 1 << 20, "viewer.html is empty");

    let server = CheckedServer::start(&mut unpacked.command(&[
        "workflow",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--no-token",
    ]))?;
    said(Command::new("curl").args(["-fsS", &format!("{}/health", server.address)]))?;
    Ok(())
}

/// Starts a `view` command, and checks the page that it serves.
fn serves_the_viewer(view: &mut Command) -> Result<()> {
    let viewer = CheckedServer::start(view)?;
    let page = said(Command::new("curl").args(["-fsS", &viewer.address]))?;
    for (_, served) in SERVED {
        contains(&page, served)?;
    }
    Ok(())
}

/// Runs a program for another processor in an emulator.
fn emulated(root: &Path, archive: &Path, target: &str, emulator: &str) -> Result<()> {
    let unpacked = unpacked(root, archive, target)?;
    let inside = unpacked.program.strip_prefix("/")?;
    let mut show = Command::new(emulator);
    show.arg(unpacked.folder.path().join(inside))
        .args(["show", RUN])
        .current_dir(unpacked.folder.path());
    contains(&said(&mut show)?, SHOWN)
}

/// Runs the installer with an empty home, from a server and from a folder. Also checks that the installer refuses a
/// damaged archive.
fn install(root: &Path, dist: &Path) -> Result<()> {
    let work = tempfile::tempdir()?;
    let damaged = work.path().join("damaged");
    archive::copy_all(dist, &damaged)?;
    for target in LINUX {
        fs::write(damaged.join(archive::name(target)), "not an archive")?;
    }
    let server = CheckedServer::start(
        Command::new("python3")
            .args([
                "-u",
                "-m",
                "http.server",
                "--bind",
                "127.0.0.1",
                "--directory",
            ])
            .arg(dist)
            .arg("0"),
    )?;
    let folder = dist.to_string_lossy().into_owned();
    for (n, from) in [server.address.trim_end_matches('/'), &folder]
        .into_iter()
        .enumerate()
    {
        let home = work.path().join(format!("home{n}"));
        fs::create_dir(&home)?;
        contains(
            &said(&mut installer(dist, from, &home))?,
            "Installed prosescope",
        )?;
        let mut show = Command::new(home.join(".local/bin/prosescope"));
        contains(
            &said(show.args(["show", RUN]).current_dir(root.join("examples")))?,
            SHOWN,
        )?;
    }
    let home = work.path().join("home");
    fs::create_dir(&home)?;
    let refused = installer(dist, &damaged.to_string_lossy(), &home).output()?;
    ensure!(
        !refused.status.success(),
        "install.sh installed a damaged archive"
    );
    contains(&String::from_utf8_lossy(&refused.stderr), files::SUMS)?;
    ensure!(
        files::names(&home)?.is_empty(),
        "install.sh left files of a damaged archive"
    );
    Ok(())
}

fn installer(dist: &Path, from: &str, home: &Path) -> Command {
    let mut install = Command::new("sh");
    install
        .arg(dist.join("install.sh"))
        .args(["--from", from])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home);
    install
}

/// A program that prints an address and serves it until this value is dropped.
struct CheckedServer {
    child: Child,
    address: String,
}

impl CheckedServer {
    fn start(command: &mut Command) -> Result<CheckedServer> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let (sender, lines) = mpsc::channel();
        // The program may print its address on standard output or on standard error, so both are read.
        follow(child.stdout.take(), sender.clone());
        follow(child.stderr.take(), sender);
        let mut server = CheckedServer {
            child,
            address: String::new(),
        };
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            if let Some((_, rest)) = line.split_once("http://") {
                let end = rest.find([' ', ')']).unwrap_or(rest.len());
                server.address = format!("http://{}", rest.split_at(end).0);
                return Ok(server);
            }
        }
        bail!("{command:?} printed no address")
    }
}

/// Sends the lines of an output to a channel, until the output ends. The program would block if nothing read its
/// output.
fn follow(output: Option<impl Read + Send + 'static>, lines: mpsc::Sender<String>) {
    thread::spawn(move || {
        for line in output
            .into_iter()
            .flat_map(|o| BufReader::new(o).lines())
            .map_while(Result::ok)
        {
            // Sending fails once the address is known and the receiver is dropped. The output is still read.
            let _ = lines.send(line);
        }
    });
}

impl Drop for CheckedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the output of a command. Exit code 1 is accepted, because `prosescope` uses it for a run that has issues.
fn said(command: &mut Command) -> Result<String> {
    let out = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    ensure!(
        matches!(out.status.code(), Some(0 | 1)),
        "{command:?} ended with {}: {}",
        out.status,
        String::from_utf8_lossy(&out.stderr)
    );
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn contains(text: &str, part: &str) -> Result<()> {
    let start: String = text.chars().take(300).collect();
    ensure!(text.contains(part), "expected `{part}` in: {start}");
    Ok(())
}
