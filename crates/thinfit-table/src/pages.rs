//! Checks of the pages of a Parquet column before the `parquet` crate decodes them: that crate allocates as many
//! values as a page claims, whether or not they exist.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Values that a page may have whatever its size: a column of empty texts takes next to no bytes.
const MOST: u64 = 1 << 24;
/// Bytes that texts may repeat of the texts before them, in a column: as many, and as many times its size.
const REPEATED: u64 = 1 << 26;
const TIMES: u64 = 16;

/// The pages of a column, of which one that claims more values than it can have is an error.
pub(crate) struct Pages {
    pages: Box<dyn PageReader>,
    /// Whether values may be null; then their levels come first.
    nullable: bool,
    /// Bytes that texts may still repeat.
    spare: u64,
}

impl Pages {
    /// The pages that come from `pages`.
    pub fn new(pages: Box<dyn PageReader>, nullable: bool) -> Self {
        Pages {
            pages,
            nullable,
            spare: REPEATED,
        }
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(page) = self.pages.get_next_page()? else {
            return Ok(None);
        };
        let flaw = |words: &str| Err(ParquetError::General(words.into()));
        let Some(repeated) = repeated(&page, self.nullable) else {
            return flaw("a page that claims more values than it has");
        };
        let size = page.buffer().len() as u64;
        self.spare = self.spare.saturating_add(TIMES * size);
        let Some(spare) = self.spare.checked_sub(repeated) else {
            return flaw("texts that unpack to many times their size");
        };
        self.spare = spare;
        Ok(Some(page))
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

/// The bytes that the texts of a page repeat of those before them; none if it cannot have the values that it says.
fn repeated(page: &Page, nullable: bool) -> Option<u64> {
    let (buf, encoding, start) = match page {
        Page::DictionaryPage {
            buf, num_values, ..
        } => return (*num_values as usize <= buf.len()).then_some(0),
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
        _ => return Some(0),
    };
    let mut rest = buf.get(start?..)?;
    let most = MOST.max(buf.len() as u64);
    let mut sums = [0; 2];
    for sum in &mut sums[..lists] {
        let list = differences(rest, most);
        if list.count > most {
            return None;
        }
        (rest, *sum) = (list.after, list.sum);
    }
    // Of two lists the first has the lengths of what is repeated.
    Some(if lists == 2 { sums[0] } else { 0 })
}

/// A list of numbers, each as its difference from the one before.
struct Differences<'a> {
    /// How many it says that it has.
    count: u64,
    /// The sum of those that are there.
    sum: u64,
    /// What follows; nothing where it is cut off or has too many. What cannot be read to its end takes no memory.
    after: &'a [u8],
}

/// The list that these bytes begin with, read if it has at most `most` numbers.
fn differences(bytes: &[u8], most: u64) -> Differences<'_> {
    let mut list = Differences {
        count: 0,
        sum: 0,
        after: bytes,
    };
    if list.read(most).is_none() {
        list.after = &[];
    }
    list
}

impl<'a> Differences<'a> {
    /// Reads the list that `after` begins with; none where it is cut off.
    fn read(&mut self, most: u64) -> Option<()> {
        let [block, parts] = [number(&mut self.after)?, number(&mut self.after)?];
        self.count = number(&mut self.after)?;
        let each = block.checked_div(parts)?;
        let mut value = signed(number(&mut self.after)?);
        self.add(value);
        let mut left = self.count.saturating_sub(1);
        while left > 0 && each > 0 && self.count <= most {
            let least = signed(number(&mut self.after)?);
            for width in self.take(parts)? {
                let part = self.take(each.checked_mul(u64::from(*width))? / 8)?;
                for i in 0..each.min(left) {
                    value = value
                        .wrapping_add(least)
                        .wrapping_add(packed(part, i, *width));
                    self.add(value);
                }
                left = left.saturating_sub(each);
                if left == 0 {
                    break;
                }
            }
        }
        Some(())
    }

    /// The next `count` bytes.
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, after) = self.after.split_at_checked(usize::try_from(count).ok()?)?;
        self.after = after;
        Some(taken)
    }

    fn add(&mut self, value: i64) {
        self.sum = self.sum.saturating_add(u64::try_from(value).unwrap_or(0));
    }
}

/// Number `i` of numbers of `width` bits each, the lowest bits first.
fn packed(bytes: &[u8], i: u64, width: u8) -> i64 {
    let first = i * u64::from(width);
    let bit = |k: u64| {
        bytes
            .get((k / 8) as usize)
            .map_or(0, |byte| byte >> (k % 8) & 1)
    };
    let bits = (0..u64::from(width.min(64))).rev();
    bits.fold(0, |number, k| number << 1 | i64::from(bit(first + k)))
}

/// Numbers alternate between both signs, from zero on.
pub(crate) fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
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

    fn sound(page: &Page, nullable: bool) -> bool {
        repeated(page, nullable).is_some()
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
        assert!(sound(&length(&few), false) && !sound(&length(&many), false));
        assert!(sound(&both([&few, &few]), false));
        assert!(!sound(&both([&many, &few]), false));
        assert!(!sound(&both([&few, &many]), false));
        // Two blocks, the second in part.
        let two = equal(&[0xc8, 1], 2);
        assert!(sound(&both([&two, &few]), false) && !sound(&both([&two, &many]), false));
        let levels = [&[2, 0, 0, 0, 9, 9][..], &many].concat();
        assert!(!sound(&length(&levels), true));
        assert!(sound(&page(Encoding::PLAIN, &many), false));
    }

    #[test]
    fn what_texts_repeat_is_added_up() {
        // Lengths 3, 4, 6, 6, 9 as a first one and differences 1, 2, 0, 3 of two bits each, in blocks of 128 in 4 parts.
        let lengths = [
            &[0x80, 1, 4, 5, 6, 0, 2, 0, 0, 0][..],
            &[0b1100_1001],
            &[0; 7],
        ]
        .concat();
        let none = [&[0x80, 1, 4, 5, 0, 0, 0, 0, 0, 0][..]].concat();
        let both = page(Encoding::DELTA_BYTE_ARRAY, &[&lengths[..], &none].concat());
        assert_eq!(repeated(&both, false), Some(3 + 4 + 6 + 6 + 9));
        let many = page(
            Encoding::DELTA_BYTE_ARRAY,
            &[&equal(&[100], 1)[..], &none].concat(),
        );
        assert_eq!(repeated(&many, false), Some(100));
    }

    /// Pages in memory.
    struct Given(Vec<Page>);

    impl Iterator for Given {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.0.pop().map(Ok)
        }
    }

    impl PageReader for Given {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.pop())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn texts_that_repeat_gigabytes_are_refused_also_in_many_pages() {
        // 256 texts, each of which repeats 200,000 bytes: 51 MB a page.
        let many = [
            &[0x80, 1, 1, 0x80, 2, 0x80, 0xb5, 0x18][..],
            &[0, 0].repeat(2),
        ]
        .concat();
        let none = equal(&[0], 0);
        let page = || page(Encoding::DELTA_BYTE_ARRAY, &[&many[..], &none].concat());
        assert_eq!(repeated(&page(), false), Some(256 * 200_000));
        let mut pages = Pages::new(Box::new(Given(vec![page(), page()])), false);
        assert!(pages.get_next_page().unwrap().is_some());
        let error = pages.get_next_page().unwrap_err().to_string();
        assert!(error.contains("many times their size"), "{error}");
    }

    #[test]
    fn a_dictionary_that_claims_more_values_than_bytes_is_found_before_memory_is_taken() {
        let dictionary = |num_values| Page::DictionaryPage {
            buf: Bytes::from_static(&[0; 8]),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        assert!(sound(&dictionary(8), false));
        assert!(!sound(&dictionary(1 << 30), false));
    }
}
