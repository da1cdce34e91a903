//! Links the module as Python's modules are: its symbols are found when it is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
