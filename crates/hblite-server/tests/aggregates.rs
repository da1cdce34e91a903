//! AggregateService, region by region as its Java client asks.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{Client, create_table, region};
use hblite::Put;
use hblite_server::TestServer;
use hblite_wire::pb;
use prost::Message as _;

const PACKAGE: &str = "org.apache.hadoop.hbase.client.coprocessor.";

fn exec(
    service: &str,
    method: &str,
    name: &[u8],
    request: Vec<u8>,
) -> pb::CoprocessorServiceRequest {
    let call = pb::CoprocessorServiceCall {
        row: "".into(),
        service_name: service.to_owned(),
        method_name: method.to_owned(),
        request: request.into(),
    };
    pb::CoprocessorServiceRequest { region: region(name), call }
}

fn request(interpreter: &str, qualifiers: &[&str]) -> pb::AggregateRequest {
    let column = pb::Column {
        family: "f".into(),
        qualifier: qualifiers.iter().map(|name| name.to_string().into()).collect(),
    };
    pb::AggregateRequest {
        interpreter_class_name: format!("{PACKAGE}{interpreter}"),
        scan: pb::Scan { column: vec![column], ..pb::Scan::default() },
        ..pb::AggregateRequest::default()
    }
}

struct Region {
    client: Client,
    name: Vec<u8>,
}

impl Region {
    fn ask(&mut self, method: &str, request: &pb::AggregateRequest) -> pb::AggregateResponse {
        let call = exec("AggregateService", method, &self.name, request.encode_to_vec());
        let response: pb::CoprocessorServiceResponse =
            self.client.call("ExecService", &call).decode();
        let class = "org.apache.hadoop.hbase.protobuf.generated.AggregateProtos$AggregateResponse";
        assert_eq!(response.value.name, class);
        pb::AggregateResponse::decode(response.value.value.expect("it works")).expect("it works")
    }

    /// The long numbers of an answer, and their count.
    fn longs(&mut self, method: &str, qualifiers: &[&str]) -> (Vec<i64>, Option<u64>) {
        let answer = self.ask(method, &request("LongColumnInterpreter", qualifiers));
        let long =
            |bytes: &bytes::Bytes| pb::LongMsg::decode(bytes.clone()).expect("it works").long_msg;
        let count =
            |bytes: bytes::Bytes| u64::from_be_bytes(bytes.as_ref().try_into().expect("it works"));
        (answer.first_part.iter().map(long).collect(), answer.second_part.map(count))
    }
}

fn server() -> (TestServer, Region) {
    let server = TestServer::start().expect("it works");
    let name = create_table(&server, "t", &[]).remove(0);
    let client = Client::data(&server);
    (server, Region { client, name })
}

#[test]
fn longs_of_a_region_are_aggregated() {
    let (server, mut region) = server();
    let table = server.connection().table("t").unwrap();
    for (row, value, weight) in [("a", 5_i64, 1_i64), ("b", -3, 2), ("c", 7, 1)] {
        let put = Put::new(row).add("f", "q", value.to_be_bytes());
        table.put(&put.add("f", "w", weight.to_be_bytes())).unwrap();
    }
    table.put(&Put::new("d").add("f", "q", "no number")).unwrap();
    assert_eq!(region.longs("GetMax", &["q"]), (vec![7], None));
    assert_eq!(region.longs("GetMin", &["q"]), (vec![-3], None));
    assert_eq!(region.longs("GetSum", &["q"]), (vec![9], None));
    assert_eq!(region.longs("GetAvg", &["q"]), (vec![9], Some(4)));
    assert_eq!(region.longs("GetStd", &["q"]), (vec![9, 25 + 9 + 49], Some(4)));
    assert_eq!(region.longs("GetMedian", &["q"]), (vec![9, i64::MIN], None));
    assert_eq!(region.longs("GetMedian", &["q", "w"]), (vec![13, 13], None));
    let count = region.ask("GetRowNum", &request("LongColumnInterpreter", &["q"]));
    assert_eq!(count.first_part[0].as_ref(), 4_u64.to_be_bytes());
    // Rows without cells count as in HBase's scanner: once, at the end.
    table.delete(&hblite::Delete::new("d")).unwrap();
    assert_eq!(region.longs("GetAvg", &["q"]), (vec![9], Some(4)));
}

#[test]
fn fractions_and_decimals_are_aggregated() {
    let (server, mut region) = server();
    let table = server.connection().table("t").unwrap();
    let decimal = |scale: i32, unscaled: i16| {
        [&scale.to_be_bytes()[..], &unscaled.to_be_bytes()[..]].concat()
    };
    for (row, fraction, number) in [("a", 0.5_f64, decimal(3, 1235)), ("b", 2.25, decimal(0, -7))] {
        let put = Put::new(row).add("f", "d", fraction.to_be_bytes());
        table.put(&put.add("f", "b", number)).unwrap();
    }
    let answer = region.ask("GetSum", &request("DoubleColumnInterpreter", &["d"]));
    let sum = pb::DoubleMsg::decode(answer.first_part[0].clone()).unwrap();
    assert_eq!(sum.double_msg, 2.75);
    for (method, expected) in [
        ("GetSum", &b"\0\0\0\x02\xfd\xc0"[..]),
        ("GetMax", &b"\0\0\0\x02\x7c"[..]),
        ("GetMin", &b"\0\0\0\x02\xfd\x44"[..]),
    ] {
        let answer = region.ask(method, &request("BigDecimalColumnInterpreter", &["b"]));
        let found = pb::BigDecimalMsg::decode(answer.first_part[0].clone()).unwrap();
        assert_eq!(found.bigdecimal_msg.as_ref(), expected, "{method}");
    }
}

#[test]
fn an_empty_region_has_no_sum_and_what_is_not_there_is_named() {
    let (_server, mut region) = server();
    assert_eq!(region.longs("GetMax", &["q"]), (vec![], None));
    assert_eq!(region.longs("GetAvg", &["q"]), (vec![], None));
    let mut exception = |service: &str, method: &str, request: &pb::AggregateRequest| {
        let call = exec(service, method, &region.name, request.encode_to_vec());
        let answer = region.client.call("ExecService", &call);
        (answer.exception().1, answer.exception_text().to_owned())
    };
    let longs = request("LongColumnInterpreter", &["q"]);
    let other = request("MyInterpreter", &["q"]);
    let without_family = pb::AggregateRequest { scan: pb::Scan::default(), ..longs.clone() };
    for (service, method, request, is_final, text) in [
        ("AggregateService", "GetMedian", &longs, false, "NullPointerException"),
        ("AggregateService", "GetMode", &longs, true, "Unknown method GetMode"),
        ("Other", "GetMax", &longs, true, "No registered coprocessor service found for Other"),
        ("AggregateService", "GetMax", &other, true, "ClassNotFoundException"),
        ("AggregateService", "GetMax", &without_family, true, "no family"),
    ] {
        let (do_not_retry, message) = exception(service, method, request);
        assert_eq!(do_not_retry, is_final, "{message}");
        assert!(message.contains(text), "{message}");
    }
}
