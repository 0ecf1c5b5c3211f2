//! Opens cases one by one and reports the result, the processor time and the memory of each case.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::Options;
use prosescope_damage::{Case, Outcome, Visited, What, visit};
use prosescope_store::Disk;
use prosescope_test_support::work::spent;

use crate::memory::Peak;
use crate::{place, too_slow};

/// Stack size of the thread, in bytes. A browser gives WebAssembly one megabyte; unoptimised native code needs more.
const STACK: usize = 4 << 20;

/// How often a case that exceeds its processor time is tried; the shortest time counts. The same work takes longer
/// while other processes use the same core or much memory.
const TRIES: usize = 4;

/// The report about a case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) case: usize,
    pub(crate) name: String,
    pub(crate) millis: u64,
    pub(crate) bytes: usize,
    pub(crate) opened: usize,
    pub(crate) trouble: Option<String>,
}

/// The text that begins each report in a child's output.
const MARK: &str = "\u{1}report\t";

impl Report {
    /// Returns the report for a case that ended its process, with the reason `how`.
    pub(crate) fn died(case: usize, how: &str) -> Report {
        Report {
            case,
            name: prosescope_damage::case(case).name,
            trouble: Some(how.to_owned()),
            ..Report::default()
        }
    }

    pub(crate) fn read(line: &str) -> Option<Report> {
        // The test harness prints the name of the test first, so the first report is in the middle of a line.
        let (_, rest) = line.split_once(MARK)?;
        let mut fields = rest.splitn(6, '\t');
        let mut next = || fields.next();
        Some(Report {
            case: next()?.parse().ok()?,
            millis: next()?.parse().ok()?,
            bytes: next()?.parse().ok()?,
            opened: next()?.parse().ok()?,
            name: next()?.to_owned(),
            trouble: next().filter(|t| !t.is_empty()).map(str::to_owned),
        })
    }

    fn write(&self) {
        let trouble = self
            .trouble
            .as_deref()
            .unwrap_or_default()
            .replace('\n', " ");
        let mut out = std::io::stdout().lock();
        let _ = writeln!(
            out,
            "{MARK}{}\t{}\t{}\t{}\t{}\t{trouble}",
            self.case, self.millis, self.bytes, self.opened, self.name
        );
        let _ = out.flush();
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:5} ms {:4} MB  {}",
            self.millis,
            self.bytes >> 20,
            self.name
        )
    }
}

/// Runs cases and prints a report for each.
pub(crate) fn run(from: usize, to: usize) {
    for case in from..to {
        let mut report = run_case(case).0;
        for _ in 1..TRIES {
            if report.trouble.is_some() || !too_slow(&report) {
                break;
            }
            report.millis = report.millis.min(run_case(case).0.millis);
        }
        report.write();
    }
}

/// Runs the cases whose names contain a text, and prints for each the time, the memory and the issues found.
pub(crate) fn show(named: &str) {
    let cases = 0..prosescope_damage::count();
    for n in cases.filter(|n| prosescope_damage::case(*n).name.contains(named)) {
        let (report, visits) = run_case(n);
        println!(
            "{report}{}",
            report
                .trouble
                .as_deref()
                .map_or(String::new(), |t| format!(": {t}"))
        );
        for (way, visited, took, bytes) in visits {
            println!(
                "    {way}: {} ms, {} MB, {} opened, {} rows, {} bytes of pages, {} took {} ms, {} has {} bytes, {}",
                took.as_millis(),
                bytes >> 20,
                visited.opened,
                visited.rows,
                visited.json,
                visited.slowest.0,
                visited.slowest.1.as_millis(),
                visited.largest.0,
                visited.largest.1,
                Vec::from_iter(visited.rules.iter().map(String::as_str)).join(" ")
            );
            let mut spent: Vec<_> = visited.spent.iter().collect();
            spent.sort_by_key(|(_, time)| std::cmp::Reverse(**time));
            for (page, time) in spent.iter().take(8) {
                println!("    {:6} ms  {page}", time.as_millis());
            }
            for refused in visited.refused.iter().take(3) {
                println!(
                    "    refused: {}",
                    refused.chars().take(300).collect::<String>()
                );
            }
        }
    }
}

type Seen = (&'static str, Visited, Duration, usize);

/// Opens a case in a separate thread, from disk and from memory.
fn run_case(n: usize) -> (Report, Vec<Seen>) {
    let case = prosescope_damage::case(n);
    let name = case.name.clone();
    let ran = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || {
            let seen = catch_unwind(AssertUnwindSafe(|| every_way(&case)));
            let trouble = match &seen {
                Ok((seen, whole)) => judge(&case, seen, *whole),
                Err(panic) => Some(format!("panicked: {}", panic_text(panic))),
            };
            (seen.map(|(seen, _)| seen).unwrap_or_default(), trouble)
        })
        .unwrap()
        .join();
    let (seen, trouble) = ran.unwrap_or_else(|panic| {
        (
            Vec::new(),
            Some(format!("panicked outside: {}", panic_text(&panic))),
        )
    });
    let report = Report {
        case: n,
        name,
        millis: seen
            .iter()
            .map(|s| s.2.as_millis() as u64)
            .max()
            .unwrap_or(0),
        bytes: seen.iter().map(|s| s.3).max().unwrap_or(0),
        opened: seen.iter().map(|s| s.1.opened).sum(),
        trouble,
    };
    (report, seen)
}

fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
    words.unwrap_or("something").to_owned()
}

/// Opens the case in every way: as a folder, as a file, from memory. Returns the results, and whether the whole case
/// could be written to disk.
fn every_way(case: &Case) -> (Vec<Seen>, bool) {
    let mut seen = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let whole = place::write(case, folder.path());
    seen.push(measured("folder", || {
        Disk::open(folder.path())
            .map(|disk| Rc::new(disk) as Rc<dyn Source>)
            .map_err(|error| error.to_string())
    }));
    // A database is also opened as a file, to test the files beside it. A case that only damages pages has none.
    let file = case.entries.first().filter(|e| e.path.ends_with(".db"));
    if let Some(file) = file.filter(|_| case.outcome != Outcome::Either || case.entries.len() > 1) {
        seen.push(measured("file", || {
            let disk = Disk::open(&folder.path().join(&file.path));
            disk.map(|disk| Rc::new(disk) as Rc<dyn Source>)
                .map_err(|error| error.to_string())
        }));
    }
    // The source is built before the measurement, because its memory is that of the case itself.
    let memory: Rc<dyn Source> = Rc::new(case.in_memory());
    seen.push(measured("memory", || Ok(Rc::clone(&memory))));
    (seen, whole)
}

fn measured(way: &'static str, open: impl FnOnce() -> Result<Rc<dyn Source>, String>) -> Seen {
    let peak = Peak::start();
    let (visited, took) = spent(|| match open() {
        Ok(source) => visit(&source, &Options::default()),
        Err(why) => Visited {
            refused: vec![why],
            ..Visited::default()
        },
    });
    (way, visited, took, peak.bytes())
}

/// Returns an error unless reading the case had the required outcome.
fn judge(case: &Case, seen: &[Seen], on_disk: bool) -> Option<String> {
    let in_memory = case.entries.iter().all(|e| matches!(e.what, What::File(_)));
    let ways = seen.iter().filter(|(way, ..)| match *way {
        "memory" => in_memory,
        _ => on_disk,
    });
    match case.outcome {
        Outcome::Either => None,
        Outcome::Shown(rules) => {
            for (way, visited, ..) in ways {
                if visited.opened == 0 {
                    return Some(format!("{way}: not shown: {:?}", visited.refused));
                }
            }
            let said: BTreeSet<&str> = seen
                .iter()
                .flat_map(|(_, visited, ..)| visited.rules.iter().map(String::as_str))
                .collect();
            let missing: Vec<&&str> = rules.iter().filter(|rule| !said.contains(**rule)).collect();
            (!missing.is_empty()).then(|| format!("nothing says {missing:?}, only {said:?}"))
        }
        Outcome::Refused(words) => {
            for (way, visited, ..) in ways {
                let said = visited.refused.join("; ");
                if visited.opened > 0 || !said.to_lowercase().contains(&words.to_lowercase()) {
                    return Some(format!("{way}: not refused with {words:?}: {said:?}"));
                }
            }
            None
        }
    }
}
