//! Random damage: a check finishes, changes nothing, and never calls a store sound that an open
//! refuses.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use hblite_model::{Scan, SystemTables};

/// A store with files, references, a disabled table and a log.
fn various() -> TestStore {
    TestStore::new().with_killed(|engine| {
        with_files(engine);
        engine.procedures().split_table(&name("t"), Some(b"a00050")).unwrap();
        create(engine, "u");
        fill(engine, "u", 0);
        engine.procedures().disable_table(&name("u")).unwrap();
        fill(engine, "t", 300);
    })
}

fn read_all(engine: &Arc<Engine>) -> hblite_model::Result<()> {
    for table in engine.catalog().list_tables(SystemTables::Exclude) {
        if engine.catalog().table_state(table.name())? != hblite_model::TableState::Enabled {
            continue;
        }
        let mut scanner = engine.table(table.name().clone()).scan(&Scan::new())?;
        let mut row = hblite_model::RowResult::default();
        while scanner.next_row(&mut row)? {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_nothing_is_overlooked(
        damages in prop::collection::vec((any::<Index>(), any::<Index>(), 1_u8.., 0_u8..8), 1..4)
    ) {
        let store = various();
        let files: Vec<_> =
            store.files("").into_iter().filter(|path| !path.ends_with("LOCK")).collect();
        let sound = store.contents();
        for (file, at, bits, what) in damages {
            let path = file.get(&files);
            if !store.fs.exists(path).unwrap() || store.fs.file_length(path).unwrap() == 0 {
                continue;
            }
            store.change(path, |content| {
                let at = at.index(content.len());
                match what {
                    0 => content.truncate(at),
                    1 => content.extend_from_slice(&[bits; 9]),
                    _ => content[at] ^= bits,
                }
            });
            if what == 2 {
                store.fs.remove_file(path).unwrap();
            }
        }
        let before = store.contents();
        let damaged: Vec<_> = sound.iter().filter(|file| !before.contains(file)).collect();
        // Nothing but a store is checked, and it may have lost what says that it is one.
        let report = check(&store.env(), Path::new(DIR), &mut |_| {}).ok();
        prop_assert!(store.contents() == before);
        let opened = Engine::open(store.env(), Path::new(DIR), store.options.clone());
        let read = opened.and_then(|engine| {
            let read = read_all(&engine);
            engine.abandon();
            read
        });
        let names: Vec<_> = damaged.iter().map(|(path, _)| path).collect();
        prop_assert!(report.is_some() || read.is_err(), "{names:?}");
        let is_clean = report.is_some_and(|report| report.is_clean());
        prop_assert!(read.is_ok() || !is_clean, "{names:?}: {read:?}");
    }
}
