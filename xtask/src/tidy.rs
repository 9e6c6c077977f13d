//! `cargo xtask tidy`: house rules that the compiler cannot check.
//!
//! Every rule is a function from text to problems, so that its tests need no
//! files. Only this file reads the checkout.

mod architecture;
mod dependencies;
mod documents;
mod folders;
mod functions;
mod interpreters;
mod list;
mod manifests;
mod readmes;
mod scenarios;
mod sources;
mod suites;
mod type_names;
mod wire_names;
mod words;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// Runs every rule and reports all problems at once.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let files = workspace.files()?;
    let mut problems = Vec::new();

    let members = workspace.members()?;
    let written = list::parse_sections(&workspace.read("xtask/tidy/dependencies.txt")?);
    problems.extend(dependencies::check(&members, &written));
    let map = workspace.read(architecture::PAGE)?;
    problems.extend(architecture::check_map(&map, &members, &files));
    let picture = workspace.read(architecture::PICTURE)?;
    problems.extend(architecture::check_picture(&picture, &members));
    let mut manifests = Vec::new();
    for member in &members {
        let manifest = workspace.read(&member.manifest)?;
        problems.extend(manifests::check(&member.name, &manifest, member.published));
        manifests.push(manifest);
        if member.published {
            let packages = workspace.packages_of(&member.name)?;
            let readme = workspace.read(member.manifest.with_file_name("README.md"))?;
            problems.extend(readmes::check(&member.name, &readme, &packages));
        }
    }
    problems.extend(manifests::unused(&workspace.read("Cargo.toml")?, &manifests));

    let explained = list::parse_reasons(&workspace.read("xtask/tidy/long-files.txt")?);
    let variables = workspace.read("docs/environment.md")?;
    let mut rust = Vec::new();
    for path in &files {
        // A file that is not text (an image, a recorded archive) has no lines to check.
        let Ok(text) = workspace.read(path) else { continue };
        problems.extend(documents::machine_paths(path, &text));
        if path.ends_with(".md") || path.ends_with(".rs") {
            problems.extend(words::check(path, &text));
            problems.extend(documents::unsafe_examples(path, &text));
        }
        if path.ends_with(".md") {
            problems.extend(documents::dead_links(path, &text, |target| {
                workspace.sh.path_exists(target)
            }));
        }
        if path.ends_with(".rs") {
            problems.extend(sources::check(path, &text));
            problems.extend(functions::check(path, &text));
            problems.extend(wire_names::check(path, &text));
            let exists = |page: &str| workspace.sh.path_exists(page);
            problems.extend(documents::dead_mentions(path, &text, exists));
            problems.extend(documents::undocumented_variables(path, &text, &variables));
            rust.push((path.clone(), text));
        }
    }
    problems.extend(sources::check_sizes(&rust, &explained));
    problems.extend(suites::check(&rust));
    problems.extend(type_names::check(&rust));
    let wide = list::parse_reasons(&workspace.read("xtask/tidy/wide-folders.txt")?);
    problems.extend(folders::check(&files, &wide));
    let names = interpreters::Names::of(&rust);
    problems.extend(rust.iter().flat_map(|(path, text)| names.check(path, text)));
    problems.extend(documents::format_pages(&files, &workspace.read("docs/format/README.md")?));

    let exists = |path: &str| workspace.sh.path_exists(path);
    problems.extend(documents::missing_places(&workspace.read("CONTRIBUTING.md")?, exists));
    let scenarios_page = "docs/codex-scenarios.md";
    let page = workspace.read(scenarios_page)?;
    problems.extend(documents::missing_files(scenarios_page, &page, exists));
    problems.extend(scenarios::check(scenarios_page, &page, &rust));

    if problems.is_empty() {
        println!("tidy: {} files, {} crates, no problem", files.len(), members.len());
        return Ok(());
    }
    for problem in &problems {
        eprintln!("tidy: {problem}");
    }
    bail!("tidy found problems: {}", problems.len());
}

/// Converts sources to the form that the rules take, for tests.
#[cfg(test)]
fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect()
}
