//! A terminal session as an SVG: real output, no screenshot tool.

const CHARACTER_WIDTH: f64 = 7.83;
const LINE_HEIGHT: f64 = 18.0;
const PADDING: f64 = 18.0;
const TITLE_BAR: f64 = 30.0;

/// Draws the lines. Lines that begin with `$ ` are commands, with `# ` remarks.
pub(super) fn draw(title: &str, lines: &[String]) -> String {
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let width = (columns as f64 * CHARACTER_WIDTH + 2.0 * PADDING).ceil();
    let height = lines.len() as f64 * LINE_HEIGHT + TITLE_BAR + 2.0 * PADDING;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\n\
         <style>text {{ font: 13px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #d7dde2; \
         white-space: pre; }} .command {{ fill: #ffffff; font-weight: 600; }} \
         .remark {{ fill: #8fb8de; }} .marker {{ fill: #e6b455; }}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1b2127\"/>\n\
         <path d=\"M0 30H{width}\" stroke=\"#323b44\"/>\n\
         <circle cx=\"18\" cy=\"15\" r=\"5\" fill=\"#e0645c\"/>\
         <circle cx=\"36\" cy=\"15\" r=\"5\" fill=\"#e6b455\"/>\
         <circle cx=\"54\" cy=\"15\" r=\"5\" fill=\"#6bb872\"/>\n",
        escape(title),
    );
    let mut baseline = TITLE_BAR + PADDING + 10.0;
    for line in lines {
        let class = match line {
            command if command.starts_with("$ ") => " class=\"command\"",
            remark if remark.starts_with("# ") => " class=\"remark\"",
            _ => "",
        };
        let text = mark(&escape(line));
        let row = format!(
            "<text{class} x=\"{PADDING}\" y=\"{baseline}\" xml:space=\"preserve\">{text}</text>\n"
        );
        svg.push_str(&row);
        baseline += LINE_HEIGHT;
    }
    svg.push_str("</svg>\n");
    svg
}

/// Colours redaction markers, which the picture is meant to show.
fn mark(escaped: &str) -> String {
    let mut marked = String::new();
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once("&lt;redacted") {
        let (inside, tail) = after.split_once("&gt;").unwrap_or((after, ""));
        marked.push_str(before);
        marked.push_str("<tspan class=\"marker\">&lt;redacted");
        marked.push_str(inside);
        marked.push_str("&gt;</tspan>");
        rest = tail;
    }
    marked.push_str(rest);
    marked
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_markers_are_coloured() {
        let svg = draw(
            "a \"demo\"",
            &["$ cat <x>".to_owned(), "key <redacted:jwt:ab12> & on".to_owned()],
        );
        assert!(svg.contains("aria-label=\"a &quot;demo&quot;\""));
        assert!(svg.contains("class=\"command\" x=\"18\""));
        assert!(svg.contains("<tspan class=\"marker\">&lt;redacted:jwt:ab12&gt;</tspan> &amp; on"));
    }
}
