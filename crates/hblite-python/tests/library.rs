//! The library is a module of Python.

#[test]
fn the_library_exports_what_python_calls_to_load_it() {
    let test = std::env::current_exe().expect("the path of the test");
    let name = format!("{}_native{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = test.parent().expect("the directory of the tests").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut names = bytes.split(|&byte| byte == 0);
    assert!(names.any(|name| name == b"PyInit__native"));
}
