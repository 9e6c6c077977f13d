//! The input of a turn: the text, then the images in order.

use super::image::{ImageLocation, inline_image, is_image, locate};

/// Replaces inline data that is not an image.
const OMITTED: &str = "[codex user input] omitted image payload: invalid inline image data";

/// One image of a turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TurnImage {
    /// Base64 data with the type that its sender claims.
    Inline {
        /// The claimed type.
        mime: String,
        /// The data.
        data: String,
    },
    /// A path, a URL, or both; the path wins.
    Media {
        /// A path on this host.
        path: Option<String>,
        /// A URL, or a path in its place.
        url: Option<String>,
        /// The claimed type.
        mime: Option<String>,
    },
}

/// One item of a turn's input, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputItem {
    /// A text.
    Text(String),
    /// An image at a URL, or in a data URI.
    Image(String),
    /// An image at a path on this host.
    LocalImage(String),
}

/// The input of one turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnInput {
    /// The text.
    pub text: String,
    /// The images, in order.
    pub images: Vec<TurnImage>,
}

impl TurnInput {
    /// A turn with text only.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), images: Vec::new() }
    }

    /// Adds media as messengers deliver it: three lists, matched by position.
    #[must_use]
    pub fn with_media(mut self, paths: &[String], urls: &[String], mimes: &[String]) -> Self {
        let listed = |list: &[String]| -> Vec<String> {
            let trimmed = list.iter().map(|text| text.trim());
            trimmed.filter(|text| !text.is_empty()).map(str::to_owned).collect()
        };
        let (paths, urls, mimes) = (listed(paths), listed(urls), listed(mimes));
        for position in 0..paths.len().max(urls.len()) {
            self.images.push(TurnImage::Media {
                path: paths.get(position).cloned(),
                url: urls.get(position).cloned(),
                mime: mimes.get(position).or_else(|| mimes.first()).cloned(),
            });
        }
        self
    }

    /// The items to send. Inline data that is not an image leaves a note; other media that
    /// is not an image is omitted.
    #[must_use]
    pub fn items(&self) -> Vec<InputItem> {
        let images = self.images.iter().filter_map(TurnImage::item);
        std::iter::once(InputItem::Text(self.text.clone())).chain(images).collect()
    }
}

impl TurnImage {
    fn item(&self) -> Option<InputItem> {
        match self {
            Self::Inline { mime, data } => Some(
                inline_image(mime, data)
                    .map_or_else(|| InputItem::Text(OMITTED.to_owned()), InputItem::Image),
            ),
            Self::Media { path, url, mime } => {
                let text = path.as_deref().or(url.as_deref())?;
                if !is_image(mime.as_deref(), text) {
                    return None;
                }
                match path {
                    Some(path) => Some(InputItem::LocalImage(path.clone())),
                    None => match locate(text)? {
                        ImageLocation::Local(path) => Some(InputItem::LocalImage(path)),
                        ImageLocation::Remote(url) => Some(InputItem::Image(url)),
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items after the text.
    fn sent(images: Vec<TurnImage>) -> Vec<InputItem> {
        let mut items = TurnInput { text: String::new(), images }.items();
        assert_eq!(items.remove(0), InputItem::Text(String::new()));
        items
    }

    fn media(path: Option<&str>, url: Option<&str>, mime: Option<&str>) -> Vec<InputItem> {
        let own = |text: Option<&str>| text.map(str::to_owned);
        sent(vec![TurnImage::Media { path: own(path), url: own(url), mime: own(mime) }])
    }

    /// Scenario 71.
    #[test]
    fn paths_and_urls_are_distinguished() {
        let local = |path: &str| vec![InputItem::LocalImage(path.to_owned())];
        let remote = |url: &str| vec![InputItem::Image(url.to_owned())];
        assert_eq!(media(Some("/a.png"), Some("https://h/b.png"), None), local("/a.png"));
        assert_eq!(media(None, Some("https://h/b.PNG?x#y"), None), remote("https://h/b.PNG?x#y"));
        assert_eq!(media(None, Some("//h/b.png"), None), remote("//h/b.png"));
        assert_eq!(media(None, Some("file:///a%20b.png"), None), local("/a b.png"));
        assert_eq!(media(None, Some("file:///a%2.png"), None), []);
        assert_eq!(media(None, Some("file://elsewhere/a.png"), None), []);
        assert_eq!(media(None, Some(r"C:\\a.png"), None), local(r"C:\\a.png"));
        assert_eq!(media(None, Some("pictures/a"), Some("IMAGE/png")), local("pictures/a"));
        assert_eq!(media(Some("/a.txt"), None, Some("text/plain")), []);
    }

    /// Scenario 47: the detected type replaces the claimed one.
    #[test]
    fn inline_data_is_checked_and_sniffed() {
        let inline = |mime: &str, data: &str| {
            sent(vec![TurnImage::Inline { mime: mime.to_owned(), data: data.to_owned() }])
        };
        let gif = inline("image/png", "R0lG\nODlh");
        assert_eq!(gif, [InputItem::Image("data:image/gif;base64,R0lGODlh".to_owned())]);
        for (mime, data) in
            [("image/png", "not base64!"), ("image/png", "aGVsbG8="), ("text/plain", "R0lGODlh")]
        {
            assert_eq!(inline(mime, data), [InputItem::Text(OMITTED.to_owned())], "{mime} {data}");
        }
    }

    #[test]
    fn media_lists_are_matched_by_position() {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let input = TurnInput::text("look").with_media(
            &list(&[" /a ", ""]),
            &list(&["https://h/1", "https://h/2"]),
            &list(&["image/png"]),
        );
        let items = [
            InputItem::Text("look".to_owned()),
            InputItem::LocalImage("/a".to_owned()),
            InputItem::Image("https://h/2".to_owned()),
        ];
        assert_eq!(input.items(), items);
    }
}
