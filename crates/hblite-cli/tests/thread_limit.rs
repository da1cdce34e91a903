//! A server whose limit of threads is reached while it runs. What needs another user is skipped
//! without the right to become one.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::file_systems::{give_to_user, ok, own_user, store, user};
use crate::served::Served;

/// What a port answers to these bytes, within the time, until it has said enough or closes.
fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a port that is open");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    // A server that has closed the connection answers nothing.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = [0; 4096];
    match stream.read(&mut answer) {
        Ok(count) => String::from_utf8_lossy(&answer[..count]).into_owned(),
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{request}: {error}");
            String::new()
        }
    }
}

fn get(port: u16, path: &str) -> String {
    ask(port, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
}

/// A server of a user's.
fn served(dir: &Path, id: u32) -> Served {
    let [program, arguments @ ..] = user(id);
    let mut server = Command::new(program);
    server.args(arguments).args(["./hblite", "serve", "--dir", "store", "--log", "errors"]);
    for port in ["--zookeeper-port", "--rpc-port", "--rest-port", "--thrift-port"] {
        server.args([port, "0"]);
    }
    server.args(["--port-file", "ports"]).current_dir(dir);
    let child = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    Served::of(child)
}

/// One that may start no thread, from its start line on.
fn limited(dir: &Path) -> Served {
    let served = served(dir, own_user(1));
    // Of another user's process, it is changed only with a right that few have.
    let user = user(own_user(1)).join(" ");
    ok(dir, &format!("{user} prlimit --pid={} --nproc=1:1", served.child.id()));
    served
}

#[test]
fn a_server_that_gets_no_more_threads_answers_and_ends() {
    let dir = store();
    if !give_to_user(dir.path(), own_user(1)) {
        return;
    }
    let served = limited(dir.path());
    let url = served.url();
    let shell = |commands: &str| {
        let script = format!("timeout 60 $HBLITE shell --connect {url} -c \"{commands}\"");
        ok(dir.path(), &script)
    };
    let command =
        |what: &str| ok(dir.path(), &format!("timeout 60 $HBLITE {what} --port-file ports"));
    for round in 0..3 {
        assert!(shell("get 't', 'r1'").contains("value=v"));
        shell(&format!("put 't', 'x{round}', 'f:q', 'v'; flush 't'"));
        shell(&format!("create 'n{round}', 'f', SPLITS => ['1', '2', '3']"));
        let rest = get(served.port("rest_port"), "/t/r1");
        assert!(rest.starts_with("HTTP/1.1 200"), "{rest}");
        for path in ["/console/", "/checkpoints", "/faults"] {
            let answer = get(served.port("http_port"), path);
            assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        }
        // Each connection of Thrift needs a thread.
        assert_eq!(ask(served.port("thrift_port"), "\0\0\0\x01"), "");
        command(&format!("checkpoint c{round}"));
        // They open a store, which has threads of its own.
        for opening in ["rewind", "fork"] {
            let script = format!("! $HBLITE {opening} c{round} --port-file ports 2>&1");
            assert!(ok(dir.path(), &script).contains("ulimit -u"));
        }
    }
    let many: Vec<_> = (0..20)
        .map(|_| {
            let (url, dir) = (url.clone(), dir.path().to_owned());
            std::thread::spawn(move || {
                ok(&dir, &format!("timeout 60 $HBLITE shell --connect {url} -c \"count 't'\""))
            })
        })
        .collect();
    for thread in many {
        assert!(thread.join().expect("it counts").contains("9 row"));
    }
    let (status, said) = served.end("-TERM");
    assert_eq!(status, Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert!(said.contains("ulimit -u"), "{said}");
    ok(dir.path(), "$HBLITE check store");
    let text = ok(dir.path(), "$HBLITE shell --dir store -c \"count 't'\"");
    assert!(text.contains("9 row"), "{text}");
}

/// Clients look up the name of the host on a thread of their own.
#[test]
fn clients_without_threads_answer_or_name_the_limit() {
    let dir = store();
    if !give_to_user(dir.path(), own_user(2)) {
        return;
    }
    let served = served(dir.path(), own_user(2));
    let tasks = format!("/proc/{}/task", served.child.id());
    let threads = std::fs::read_dir(tasks).expect("its threads").count();
    let script = format!(
        "touch calls; for limit in $(seq {threads} {}); do
            for command in 'shell -c list --connect' 'replay calls --address'; do
                status=0
                timeout -k 20 10 prlimit --nproc=$limit ./hblite $command \
                    hbase+rpc://localhost:{} >out 2>&1 </dev/null || status=$?
                echo \"$limit: $command: $status\"; cat out
                ! grep -q panicked out
                test $status = 0 || grep -qE 'ulimit -u|not a recording' out
            done
        done",
        threads + 16,
        served.port("rpc_port")
    );
    std::fs::write(dir.path().join("script"), script).expect("a script");
    let said = ok(dir.path(), &format!("{} sh -eu script 2>&1", user(own_user(2)).join(" ")));
    assert!(said.contains(": 0\n"), "{said}");
}
