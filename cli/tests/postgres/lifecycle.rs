//! Tests every action on workflows in every status on PostgreSQL, alternately as a command and over HTTP, and
//! compares the results with the core's tables. On SQLite, `cli/tests/workflows.rs` tests all actions as commands,
//! and `serve/tests/server/requests.rs` tests all over HTTP.

use prosescope_postgres::{Address, PostgresTables};
use prosescope_workflow::{Action, TurnStatus, WorkflowStatus, show};

use crate::PROGRAM;
use crate::actions::{request, words};
use crate::conformance::{bring_about, is_already, is_refused};
use crate::project::{Project, cluster};
use crate::serve::{Serving, ask, free};

#[test]
fn every_action_in_every_status_does_what_the_table_says() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let mut store = PostgresTables::set_up(&Address::parse(&url, &|_| None).unwrap()).unwrap();
    let serving = Serving::start(&project, free()).unwrap();
    let mut n = 0;
    let (mut tried, mut statuses) = (0, 0);
    for workflow in WorkflowStatus::ALL {
        for turn in TurnStatus::ALL {
            statuses += 1;
            for action in Action::all() {
                let is_refused = is_refused(action, *workflow, *turn);
                let is_already = is_already(action, *workflow, *turn);
                n += 1;
                // Commands and HTTP requests alternate. Because of the sum, each action and each status is tried in
                // both ways.
                let over_http = (n + statuses) % 2 == 0;
                let Some((of, run)) = bring_about(&mut store, n, *workflow, *turn) else {
                    continue;
                };
                let before = show(&store, &of).unwrap();
                let about = format!("{action:?} on {workflow:?} and {turn:?}, HTTP: {over_http}");
                if over_http {
                    let (path, body) = request(action, &of, &run);
                    let (status, said) = ask(serving.address, "POST", &path, &body).unwrap();
                    let wanted = if is_refused { 409 } else { 200 };
                    assert_eq!(status, wanted, "{about}: {said}");
                } else {
                    let args = [&words(action, &of, &run)[..], &["--state", "postgres"]];
                    let said = project.command(&args.concat()).output().unwrap();
                    let wanted = if is_refused { 4 } else { 0 };
                    let error = String::from_utf8_lossy(&said.stderr);
                    assert_eq!(said.status.code(), Some(wanted), "{about}: {error}");
                }
                if is_refused || is_already {
                    assert_eq!(show(&store, &of).unwrap(), before, "{about}");
                }
                tried += 1;
            }
        }
    }
    serving.kill();
    assert_eq!(tried, 18 * 14);
}
