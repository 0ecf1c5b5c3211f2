//! Replaces `prosescope-postgres` in a build without the feature `postgres`. [`Address`] has no values here, so code
//! that needs an address compiles but cannot run.
//!
//! `cargo xtask view` builds without the feature, because a PostgreSQL client and TLS take long to compile.

use std::fmt;
use std::fs::File;
use std::rc::Rc;
use std::time::Duration;

use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::Session;
use prosescope_core::pages::upkeep::doctor::server::{RunSize, ServerFacts};
use prosescope_core::pages::view::CopyLoss;
use prosescope_core::record::{Fault, FaultKind, RunStore, Work, WriteError};
use prosescope_workflow::{
    Barrier, LockTarget, RowCondition, Select, Tables, Waiting, WorkflowRow, WorkflowRows,
    WorkflowShape,
};

/// The address of a server. It has no values, because parsing always fails.
#[derive(Debug, Clone)]
pub(crate) enum Address {}

impl Address {
    pub(crate) fn parse(_: &str, _: &dyn Fn(&str) -> Option<String>) -> Result<Address, Fault> {
        Err(missing())
    }

    pub(crate) fn database(&self) -> Option<&str> {
        match *self {}
    }

    pub(crate) fn within(self, _: Duration) -> Address {
        match self {}
    }
}

impl fmt::Display for Address {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

/// Returns the error that every use of a server gets in this build.
pub(crate) fn missing() -> Fault {
    Fault::new(
        FaultKind::Io,
        "this prosescope was built without PostgreSQL",
    )
    .hint("use a released prosescope, or build one with `cargo xtask install`")
}

#[derive(Debug, Clone)]
pub(crate) enum Keeper {
    Project(Option<String>),
    User,
}

pub(crate) enum Which {
    One(String),
    None,
    Several(Vec<String>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptRows {
    pub(crate) rows: u64,
    pub(crate) memory: u64,
    pub(crate) everybodys: bool,
}

pub(crate) struct PostgresStore(Address);

impl PostgresStore {
    pub(crate) fn open(address: &Address, _: &str) -> Result<PostgresStore, WriteError> {
        match *address {}
    }

    pub(crate) fn open_agents(address: &Address, _: Keeper) -> Result<PostgresStore, WriteError> {
        match *address {}
    }

    pub(crate) fn stage(&mut self, _: File) {
        match self.0 {}
    }

    pub(crate) fn run_id(&self) -> &str {
        match self.0 {}
    }
}

impl RunStore for PostgresStore {
    fn transact(&mut self, _: Work<'_>) -> Result<(), WriteError> {
        match self.0 {}
    }
}

pub(crate) struct PostgresSource(Address);

impl PostgresSource {
    pub(crate) fn open(address: &Address, _: &str) -> Result<PostgresSource, Fault> {
        match *address {}
    }

    pub(crate) fn all(address: &Address) -> Result<PostgresSource, Fault> {
        match *address {}
    }

    pub(crate) fn newest(address: &Address, _: usize) -> Result<PostgresSource, Fault> {
        match *address {}
    }

    pub(crate) fn agents(address: &Address, _: Keeper) -> Result<PostgresSource, Fault> {
        match *address {}
    }

    pub(crate) fn with_agents(self, _: Keeper) -> Result<PostgresSource, Fault> {
        match self.0 {}
    }

    pub(crate) fn with_files_of(self, _: Rc<dyn Source>) -> PostgresSource {
        match self.0 {}
    }

    pub(crate) fn by_source_ids(self) -> PostgresSource {
        match self.0 {}
    }

    pub(crate) fn written(&self) -> Result<String, Fault> {
        match self.0 {}
    }

    pub(crate) fn place(run: &str) -> String {
        format!("runs/{run}")
    }
}

impl Source for PostgresSource {
    fn label(&self) -> String {
        match self.0 {}
    }

    fn files(&self) -> &[FileEntry] {
        match self.0 {}
    }

    fn read(&self, _: &str, _: u64, _: usize) -> Result<Vec<u8>, SourceError> {
        match self.0 {}
    }

    fn database(&self, _: &str, _: &Limits) -> Result<Box<dyn Database>, SourceError> {
        match self.0 {}
    }
}

pub(crate) struct PostgresTables(Address);

impl PostgresTables {
    pub(crate) fn open(address: &Address) -> Result<PostgresTables, Fault> {
        match *address {}
    }

    pub(crate) fn set_up(address: &Address) -> Result<PostgresTables, WriteError> {
        match *address {}
    }
}

impl WorkflowRows for PostgresTables {
    fn shape(&self) -> &WorkflowShape {
        match self.0 {}
    }

    fn select(&self, _: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
        match self.0 {}
    }

    fn barrier(&self) -> Result<Barrier, Fault> {
        match self.0 {}
    }

    fn still_open(&self, _: &[Waiting]) -> Result<Vec<Waiting>, Fault> {
        match self.0 {}
    }
}

impl Tables for PostgresTables {
    fn transact(
        &mut self,
        _: LockTarget<'_>,
        _: prosescope_workflow::Work<'_>,
    ) -> Result<Vec<i64>, WriteError> {
        match self.0 {}
    }

    fn remove_events(&mut self, _: &[RowCondition]) -> Result<u64, Fault> {
        match self.0 {}
    }
}

pub(crate) struct Listener(Address);

impl Listener {
    pub(crate) fn open(address: &Address) -> Result<Listener, Fault> {
        match *address {}
    }

    pub(crate) fn wait(&mut self, _: Duration) -> bool {
        match self.0 {}
    }
}

pub(crate) fn init_postgres(
    address: &Address,
    _: &str,
    _: &str,
    _: &str,
    _: &str,
) -> Result<(), WriteError> {
    match *address {}
}

pub(crate) fn import_run(
    address: &Address,
    _: &Session,
    _: bool,
    _: &dyn Fn(u64),
) -> Result<Vec<CopyLoss>, WriteError> {
    match *address {}
}

pub(crate) fn kept_rows(address: &Address, _: &Keeper, _: &str) -> Result<Option<KeptRows>, Fault> {
    match *address {}
}

pub(crate) fn delete_agent(address: &Address, _: &Keeper, _: &str) -> Result<bool, WriteError> {
    match *address {}
}

pub(crate) fn find_run(address: &Address, _: Option<&str>) -> Result<Which, Fault> {
    match *address {}
}

pub(crate) fn waiting_runs(address: &Address) -> Result<Vec<String>, Fault> {
    match *address {}
}

pub(crate) fn all_runs(address: &Address) -> Result<Vec<String>, Fault> {
    match *address {}
}

pub(crate) fn run_sizes(address: &Address, _: u32) -> Result<(u64, u64, Vec<RunSize>), Fault> {
    match *address {}
}

pub(crate) fn server_facts(address: &Address) -> ServerFacts {
    match *address {}
}

pub(crate) fn remove_run(address: &Address, _: &str) -> Result<bool, WriteError> {
    match *address {}
}
