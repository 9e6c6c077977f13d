//! Checks the tour in the README against real output.

/// Lines of the README's `console` blocks that the demonstration did not print.
///
/// Digests and keyed hashes differ between machines, so their values are not
/// compared. A line of `…` stands for omitted lines.
pub(super) fn lines_not_printed(readme: &str, printed: &[String]) -> Vec<String> {
    let printed: Vec<String> = printed.iter().map(|line| without_hashes(line)).collect();
    blocks(readme)
        .filter(|block| block.contains("$ traj "))
        .flat_map(str::lines)
        .filter(|line| !line.trim().is_empty() && line.trim() != "…")
        .filter(|line| !printed.contains(&without_hashes(line)))
        .map(str::to_owned)
        .collect()
}

fn blocks(readme: &str) -> impl Iterator<Item = &str> {
    readme.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next())
}

/// Replaces runs of six and more hexadecimal digits.
fn without_hashes(line: &str) -> String {
    let mut plain = String::new();
    let mut run = String::new();
    for character in line.trim_end().chars().chain(['\n']) {
        if character.is_ascii_hexdigit() {
            run.push(character);
            continue;
        }
        plain.push_str(if run.len() >= 6 { "#" } else { &run });
        run.clear();
        plain.push(character);
    }
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tour_may_leave_lines_out_but_not_make_them_up() {
        let printed = ["$ traj verify b", "sound", "sha256:0123456789ab"].map(str::to_owned);
        let tour =
            |block: &str| lines_not_printed(&format!("x\n```console\n{block}\n```\n"), &printed);
        assert!(tour("$ traj verify b\n  …\nsha256:ffffffffffff").is_empty());
        assert_eq!(tour("$ traj verify b\nunsound"), ["unsound"]);
        assert!(tour("$ cargo install traj").is_empty());
    }
}
