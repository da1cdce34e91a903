//! Modules that lie side by side use each other in one direction, in every crate and at every
//! depth.
//!
//! A module uses another one if its code, tests apart, names a path into it that begins with
//! `crate`, `super`, `self` or a child module. Modules may use what lies in the modules around
//! them: a file and its folder are one module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{code_lines, collect, root};

/// A module's path below its crate; empty for the crate itself.
type Module = Vec<String>;

/// The code of each module of a crate, without comments and tests.
fn modules(src: &Path) -> BTreeMap<Module, String> {
    let mut files = Vec::new();
    collect(src, &mut files);
    let mut modules: BTreeMap<Module, String> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(src).expect("below the sources").with_extension("");
        let mut module: Module =
            path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            module.pop();
        }
        let text = fs::read_to_string(&file).expect("sources are UTF-8");
        let lines = code_lines(&text).into_iter().map(|line| line.split("//").next());
        let code: Vec<&str> = lines.map(Option::unwrap_or_default).collect();
        modules.insert(module, code.join("\n"));
    }
    modules
}

/// The paths of a `use`, without its braces: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths_of_use(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let prefix = prefix.trim();
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    for (at, byte) in inner.bytes().chain([b',']).enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                let part = inner[start..at].trim();
                if !part.is_empty() {
                    paths.extend(paths_of_use(part).iter().map(|path| format!("{prefix}{path}")));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Every path in the code that may lead into a module.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let is_end = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
    for statement in code.split(';') {
        let tree = statement.rsplit_once("use ").map(|(_, tree)| tree);
        if let Some(tree) = tree.filter(|tree| !tree.contains(['(', '=', ')'])) {
            paths.extend(paths_of_use(tree));
            continue;
        }
        for start in ["crate::", "super::", "self::"] {
            let ends = statement.split(start).skip(1);
            paths.extend(
                ends.map(|rest| {
                    format!("{start}{}", rest.split(is_end).next().unwrap_or_default())
                }),
            );
        }
    }
    paths
}

/// The module that a path in `of` leads into.
fn resolve(path: &str, of: &[String], known: &BTreeMap<Module, String>) -> Option<Module> {
    let mut parts = path.split("::").map(str::trim).peekable();
    let mut module = of.to_vec();
    match *parts.peek()? {
        "crate" => module.clear(),
        "self" | "super" => {}
        child => {
            module.push(child.to_owned());
            known.contains_key(&module).then_some(())?;
            module.pop();
        }
    }
    for part in parts {
        match part {
            "crate" | "self" => {}
            "super" => {
                module.pop()?;
            }
            part => {
                module.push(part.to_owned());
                if !known.contains_key(&module) {
                    module.pop();
                    break;
                }
            }
        }
    }
    Some(module)
}

/// What each child of `parent` uses of its siblings.
fn uses_of_siblings(
    parent: &[String],
    uses: &BTreeMap<&Module, BTreeSet<Module>>,
) -> BTreeMap<String, BTreeSet<String>> {
    let depth = parent.len();
    let child = |module: &Module| {
        (module.len() > depth && module.starts_with(parent)).then(|| module[depth].clone())
    };
    let mut siblings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, used) in uses {
        let Some(user) = child(module) else { continue };
        let used = used.iter().filter_map(child).filter(|used| *used != user);
        siblings.entry(user.clone()).or_default().extend(used);
    }
    siblings
}

/// The modules that `start` leads to.
fn reached_from<'a>(
    start: &'a str,
    uses: &'a BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<&'a str> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![start]);
    while let Some(module) = left.pop() {
        let used = uses.get(module).into_iter().flatten().map(String::as_str);
        left.extend(used.filter(|used| reached.insert(*used)));
    }
    reached
}

/// The groups of modules of which each leads to each other one.
fn cycles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|module| (module.as_str(), reached_from(module, uses))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let groups = reached.keys().filter(|module| leads(module, module)).map(|module| {
        reached.keys().copied().filter(|other| leads(module, other) && leads(other, module))
    });
    groups.map(Iterator::collect).collect()
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let mut found = BTreeSet::new();
    let crates = fs::read_dir(root().join("crates")).expect("crates").flatten();
    let crates = crates.map(|entry| entry.path()).chain([root().to_path_buf()]);
    for folder in crates {
        let modules = modules(&folder.join("src"));
        let resolve_all = |module: &Module, code: &str| -> BTreeSet<Module> {
            paths(code).iter().filter_map(|path| resolve(path, module, &modules)).collect()
        };
        let uses: BTreeMap<&Module, BTreeSet<Module>> =
            modules.iter().map(|(module, code)| (module, resolve_all(module, code))).collect();
        let parents: BTreeSet<&[String]> =
            modules.keys().filter_map(|module| Some(module.split_last()?.1)).collect();
        let name = if folder == root() {
            "hblite".into()
        } else {
            folder.file_name().expect("a name").to_string_lossy()
        };
        for parent in parents {
            let place = [&[name.to_string()], parent].concat().join("::");
            for group in cycles(&uses_of_siblings(parent, &uses)) {
                found.insert((place.clone(), group.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "modules that use each other in a circle:\n{found:#?}");
}

#[test]
fn circles_are_found() {
    let code =
        "use super::{b, c::{D, e::F}};\nuse crate::a::G as H;\nlet x = self::i::j(crate::k);";
    let found = paths(code);
    for path in
        ["super::b", "super::c::D", "super::c::e::F", "crate::a::G", "self::i::j", "crate::k"]
    {
        assert!(found.contains(&path.to_owned()), "{path} in {found:?}");
    }
    let used = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let uses = BTreeMap::from([
        ("a".to_owned(), used(&["b"])),
        ("b".to_owned(), used(&["c"])),
        ("c".to_owned(), used(&["a", "d"])),
        ("d".to_owned(), used(&[])),
    ]);
    assert_eq!(cycles(&uses), BTreeSet::from([vec!["a", "b", "c"]]));
}
