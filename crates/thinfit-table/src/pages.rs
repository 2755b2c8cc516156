//! The pages of a column of a Parquet file, looked at before the `parquet` crate decodes them: that crate takes memory for as
//! many values as a page says, whether or not they are there.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Values that a page may have whatever its size: a column of empty texts takes next to no bytes.
const MOST: u64 = 1 << 24;

/// The pages of a column, of which one that claims more values than it can have is an error.
pub(crate) struct Pages {
    /// Where they come from.
    pub pages: Box<dyn PageReader>,
    /// Whether values may be null; then their levels come first.
    pub nullable: bool,
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        match page
            .as_ref()
            .is_none_or(|page| is_sound(page, self.nullable))
        {
            true => Ok(page),
            false => {
                let problem = "a page of more values than it has".into();
                Err(ParquetError::General(problem))
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

/// Whether a page can have the values that it says.
fn is_sound(page: &Page, nullable: bool) -> bool {
    let (buf, encoding, start) = match page {
        Page::DictionaryPage {
            buf, num_values, ..
        } => return *num_values as usize <= buf.len(),
        Page::DataPage { buf, encoding, .. } => {
            let levels = || -> Option<usize> {
                let length: [u8; 4] = buf.get(..4)?.try_into().ok()?;
                Some(4 + u32::from_le_bytes(length) as usize)
            };
            (buf, encoding, if nullable { levels() } else { Some(0) })
        }
        Page::DataPageV2 {
            buf,
            encoding,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => {
            let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len);
            (buf, encoding, levels.map(|levels| levels as usize))
        }
    };
    let lists = match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return true,
    };
    let Some(mut rest) = start.and_then(|start| buf.get(start..)) else {
        return false;
    };
    let most = MOST.max(buf.len() as u64);
    // What cannot be read to its end takes no memory after that.
    (0..lists).all(|_| {
        let (count, after) = differences(rest, most);
        rest = after;
        count <= most
    })
}

/// How many numbers a list of differences says that it has, and what follows it; nothing where it is cut off or has more
/// than `most`.
fn differences(bytes: &[u8], most: u64) -> (u64, &[u8]) {
    let mut rest = bytes;
    let mut head = || Some((number(&mut rest)?, number(&mut rest)?, number(&mut rest)?));
    let Some((block, parts, count)) = head().filter(|(_, parts, _)| *parts > 0) else {
        return (0, &[]);
    };
    let each = block / parts;
    let mut follow = || -> Option<&[u8]> {
        number(&mut rest)?;
        let mut left = count.saturating_sub(1);
        while left > 0 && each > 0 && count <= most {
            number(&mut rest)?;
            let (widths, after) = rest.split_at_checked(usize::try_from(parts).ok()?)?;
            rest = after;
            for width in widths {
                let size = each.checked_mul(u64::from(*width))? / 8;
                rest = rest.get(usize::try_from(size).ok()?..)?;
                left = left.saturating_sub(each);
                if left == 0 {
                    break;
                }
            }
        }
        Some(rest)
    };
    (count, follow().unwrap_or_default())
}

/// A number of seven bits a byte.
pub(crate) fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn page(encoding: Encoding, bytes: &[u8]) -> Page {
        Page::DataPage {
            buf: Bytes::copy_from_slice(bytes),
            num_values: 1,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    /// A list of `count` equal numbers, in blocks of 128 in one part each.
    fn equal(count: &[u8], blocks: usize) -> Vec<u8> {
        [&[0x80, 1, 1][..], count, &[2], &[0, 0].repeat(blocks)].concat()
    }

    #[test]
    fn texts_that_claim_more_lengths_than_the_page_can_have_are_found_before_memory_is_taken() {
        let huge = [0x80, 0x80, 0x80, 0x80, 0x10];
        let (few, many) = (equal(&[100], 1), equal(&huge, 1));
        let length = |bytes: &[u8]| page(Encoding::DELTA_LENGTH_BYTE_ARRAY, bytes);
        let both = |bytes: [&[u8]; 2]| page(Encoding::DELTA_BYTE_ARRAY, &bytes.concat());
        assert!(is_sound(&length(&few), false) && !is_sound(&length(&many), false));
        assert!(is_sound(&both([&few, &few]), false));
        assert!(!is_sound(&both([&many, &few]), false));
        assert!(!is_sound(&both([&few, &many]), false));
        // Two blocks, the second in part.
        let two = equal(&[0xc8, 1], 2);
        assert!(is_sound(&both([&two, &few]), false) && !is_sound(&both([&two, &many]), false));
        let levels = [&[2, 0, 0, 0, 9, 9][..], &many].concat();
        assert!(!is_sound(&length(&levels), true));
        assert!(is_sound(&page(Encoding::PLAIN, &many), false));
    }

    #[test]
    fn a_dictionary_that_claims_more_values_than_bytes_is_found_before_memory_is_taken() {
        let dictionary = |num_values| Page::DictionaryPage {
            buf: Bytes::from_static(&[0; 8]),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        assert!(is_sound(&dictionary(8), false));
        assert!(!is_sound(&dictionary(1 << 30), false));
    }
}
