//! The code of the fuzz target `thrift` on random changes of calls. Guidance by coverage needs a
//! nightly compiler; some thousand inputs run here without.

#[path = "../../../tests/fuzz/bodies/thrift.rs"]
mod thrift;

use proptest::prelude::*;

/// Fields of the arguments of most methods, in the binary protocol.
const FIELDS: &[u8] = b"\x0b\0\x01\0\0\0\x01t\x0b\0\x02\0\0\0\x01r\x0f\0\x03\x0c\0\0\0\x01\
    \x0b\0\x02\0\0\0\x03f:q\0\x0d\0\x04\x0b\x0b\0\0\0\0\0";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn changed_calls_do_no_harm(
        choice in any::<u8>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = FIELDS.to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(2 * bytes.len()) + 1);
        thrift::run(&[&[choice], bytes.as_slice()].concat());
        prop_assert!(!bytes.is_empty());
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
        thrift::run(&bytes);
        prop_assert!(!bytes.is_empty());
    }
}
