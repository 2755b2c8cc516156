//! Where a file that a user names is written.

use std::path::{Path, PathBuf};

/// Maximum number of links that lead from one to the next, as on Linux.
const LINKS: usize = 40;

/// The file that a write to `path` changes: `path` itself, or what a symbolic link leads to, whether that exists or not.
///
/// A file that replaces `path` under a temporary name must replace this one, or the link would be lost.
pub fn place(path: &Path) -> PathBuf {
    if let Ok(place) = std::fs::canonicalize(path) {
        return place;
    }
    // The last link leads to a file that does not exist yet.
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = std::fs::read_link(&place) else {
            return place;
        };
        // A relative target starts in the folder of the link; an absolute one replaces it.
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    // A circle: the system says so when the file is created.
    path.to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_to_a_file_that_does_not_exist_leads_there() {
        let folder = std::env::temp_dir().join(format!("thinfit-place-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        let folder = std::fs::canonicalize(folder).unwrap();
        let at = |name: &str| folder.join(name);
        symlink("inner/second", at("first")).unwrap();
        symlink("../absent", at("inner/second")).unwrap();
        symlink(at("absent"), at("absolute")).unwrap();
        symlink("circle", at("circle")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        symlink("file", at("sound")).unwrap();
        assert_eq!(place(&at("first")), at("inner/../absent"));
        assert_eq!(place(&at("absolute")), at("absent"));
        assert_eq!(place(&at("sound")), at("file"));
        for itself in ["circle", "absent", "file"] {
            assert_eq!(place(&at(itself)), at(itself));
        }
        assert_eq!(place(Path::new("absent.txt")), Path::new("absent.txt"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
