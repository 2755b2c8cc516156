//! Checks of the footer and page headers of a Parquet file before the `parquet` crate reads them: that crate
//! allocates as many elements as a length claims, whether or not they exist, and does not compare field types.
//!
//! Both are structures of Thrift's compact protocol. Only types and lengths are checked here; the rest is left to the
//! crate.

use crate::pages::{number, signed};
use bytes::Bytes;
use parquet::file::reader::ChunkReader;

/// The end of a file: the length of the description and `PAR1`.
const TAIL: usize = 8;
/// Maximum nesting depth of structures, which is small in a footer.
const DEEPEST: usize = 32;

/// The type of a field.
enum Kind {
    Flag,
    Byte,
    /// A whole number of 16, 32 or 64 bits: types 4 to 6.
    Whole(u8),
    Double,
    Text,
    List(&'static Kind),
    Structure(&'static [(u64, Kind)]),
    /// How many columns are in a group of columns.
    Children,
    /// The list of columns and groups of columns.
    Schema(&'static Kind),
}

use Kind::*;

/// The fields of a description, as the format defines them. Others may come with later versions and are passed over.
const DESCRIPTION: &[(u64, Kind)] = &[
    (1, Whole(5)),
    (2, Schema(&Structure(COLUMN))),
    (3, Whole(6)),
    (4, List(&Structure(GROUP))),
    (5, List(&Structure(PAIR))),
    (6, Text),
    (7, List(&Structure(&[(1, Structure(&[]))]))),
];
const COLUMN: &[(u64, Kind)] = &[
    (1, Whole(5)),
    (2, Whole(5)),
    (3, Whole(5)),
    (4, Text),
    (5, Children),
    (6, Whole(5)),
    (7, Whole(5)),
    (8, Whole(5)),
    (9, Whole(5)),
    (10, Structure(MEANING)),
];
/// The logical type of a column: one of these, most without parameters.
const MEANING: &[(u64, Kind)] = &[
    (1, Structure(&[])),
    (2, Structure(&[])),
    (3, Structure(&[])),
    (4, Structure(&[])),
    (5, Structure(&[(1, Whole(5)), (2, Whole(5))])),
    (6, Structure(&[])),
    (7, Structure(TIME)),
    (8, Structure(TIME)),
    (10, Structure(&[(1, Byte), (2, Flag)])),
    (11, Structure(&[])),
    (12, Structure(&[])),
    (13, Structure(&[])),
    (14, Structure(&[])),
    (15, Structure(&[])),
    (16, Structure(&[(1, Byte)])),
    (17, Structure(&[(1, Text)])),
    (18, Structure(&[(1, Text), (2, Whole(5))])),
];
const TIME: &[(u64, Kind)] = &[
    (1, Flag),
    (
        2,
        Structure(&[
            (1, Structure(&[])),
            (2, Structure(&[])),
            (3, Structure(&[])),
        ]),
    ),
];
/// A group of rows.
const GROUP: &[(u64, Kind)] = &[
    (1, List(&Structure(CHUNK))),
    (2, Whole(6)),
    (3, Whole(6)),
    (4, List(&Structure(&[(1, Whole(5)), (2, Flag), (3, Flag)]))),
    (5, Whole(6)),
    (6, Whole(6)),
    (7, Whole(4)),
];
/// A column in a group of rows.
const CHUNK: &[(u64, Kind)] = &[
    (1, Text),
    (2, Whole(6)),
    (3, Structure(PAGES)),
    (4, Whole(6)),
    (5, Whole(5)),
    (6, Whole(6)),
    (7, Whole(5)),
    (9, Text),
];
const PAGES: &[(u64, Kind)] = &[
    (1, Whole(5)),
    (2, List(&Whole(5))),
    (3, List(&Text)),
    (4, Whole(5)),
    (5, Whole(6)),
    (6, Whole(6)),
    (7, Whole(6)),
    (8, List(&Structure(PAIR))),
    (9, Whole(6)),
    (10, Whole(6)),
    (11, Whole(6)),
    (12, Structure(STATISTICS)),
    (
        13,
        List(&Structure(&[(1, Whole(5)), (2, Whole(5)), (3, Whole(5))])),
    ),
    (14, Whole(6)),
    (15, Whole(5)),
    (
        16,
        Structure(&[(1, Whole(6)), (2, List(&Whole(6))), (3, List(&Whole(6)))]),
    ),
    (17, Structure(&[(1, Structure(BOX)), (2, List(&Whole(5)))])),
];
const STATISTICS: &[(u64, Kind)] = &[
    (1, Text),
    (2, Text),
    (3, Whole(6)),
    (4, Whole(6)),
    (5, Text),
    (6, Text),
    (7, Flag),
    (8, Flag),
];
const BOX: &[(u64, Kind)] = &[
    (1, Double),
    (2, Double),
    (3, Double),
    (4, Double),
    (5, Double),
    (6, Double),
    (7, Double),
    (8, Double),
];
/// The header of a page.
const HEADER: &[(u64, Kind)] = &[
    (1, Whole(5)),
    (UNPACKED, Whole(5)),
    (PACKED, Whole(5)),
    (4, Whole(5)),
    (
        5,
        Structure(&[
            (1, Whole(5)),
            (2, Whole(5)),
            (3, Whole(5)),
            (4, Whole(5)),
            (5, Structure(STATISTICS)),
        ]),
    ),
    (6, Structure(&[])),
    (7, Structure(&[(1, Whole(5)), (2, Whole(5)), (3, Flag)])),
    (
        8,
        Structure(&[
            (1, Whole(5)),
            (2, Whole(5)),
            (3, Whole(5)),
            (4, Whole(5)),
            (5, Whole(5)),
            (6, Whole(5)),
            (7, Flag),
            (8, Structure(STATISTICS)),
        ]),
    ),
];
/// The fields of a header with the size of its page.
const UNPACKED: u64 = 2;
const PACKED: u64 = 3;
const PAIR: &[(u64, Kind)] = &[(1, Text), (2, Text)];

impl Kind {
    /// Whether a field of this kind has the type `found`.
    fn is(&self, found: u8) -> bool {
        match self {
            Flag => matches!(found, 1 | 2),
            Byte => found == 3,
            Whole(kind) => found == *kind,
            Children => found == 5,
            Double => found == 7,
            Text => found == 8,
            List(_) | Schema(_) => found == 9,
            Structure(_) => found == 12,
        }
    }
}

/// Whether the footer of this file has the elements that it claims; true if there is none, which the crate reports better.
pub(crate) fn is_sound(input: &impl ChunkReader) -> bool {
    let description = || -> Option<Bytes> {
        let end = input.len().checked_sub(TAIL as u64)?;
        let tail = input.get_bytes(end, TAIL).ok()?;
        let length: [u8; 4] = tail.get(..4)?.try_into().ok()?;
        let length = u32::from_le_bytes(length);
        let start = end.checked_sub(u64::from(length))?;
        input.get_bytes(start, length as usize).ok()
    };
    description().is_none_or(|bytes| agrees(&bytes).is_some())
}

/// The sizes of a page.
pub(crate) struct PageSize {
    /// Bytes in the file, with the header.
    pub size: u64,
    /// Bytes once unpacked.
    pub unpacked: i64,
}

/// The sizes of the page whose header these bytes begin with; none if it is not sound.
pub(crate) fn page(bytes: &[u8]) -> Option<PageSize> {
    let mut walk = Walk::new(bytes);
    walk.structure(HEADER, 0)?;
    let header = (bytes.len() - walk.rest.len()) as u64;
    let [unpacked, packed] = walk.sizes?;
    Some(PageSize {
        size: header.checked_add(u64::try_from(signed(packed)).ok()?)?,
        unpacked: signed(unpacked),
    })
}

fn agrees(bytes: &[u8]) -> Option<()> {
    let mut walk = Walk::new(bytes);
    walk.structure(DESCRIPTION, 0)?;
    // A tree: each is the child of one, but the first.
    (walk.children < walk.columns.unwrap_or(0).max(1)).then_some(())
}

/// A walk through a structure. `None`: an element is missing or invalid.
struct Walk<'a> {
    rest: &'a [u8],
    /// Columns and groups of columns in the schema.
    columns: Option<u64>,
    /// How many of them are said to be in groups.
    children: u64,
    /// The last two whole numbers of 32 bits in fields [`UNPACKED`] and [`PACKED`] of the outermost structure.
    sizes: Option<[u64; 2]>,
}

impl<'a> Walk<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Walk {
            rest,
            columns: None,
            children: 0,
            sizes: None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn structure(&mut self, fields: &[(u64, Kind)], depth: usize) -> Option<()> {
        let mut field = 0u64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => number(&mut self.rest)? >> 1,
                step => field.checked_add(u64::from(step))?,
            };
            let known = fields.iter().find(|(number, _)| *number == field);
            let kind = known.map(|(_, kind)| kind);
            if !kind.is_none_or(|kind| kind.is(head & 15)) {
                return None;
            }
            match (head & 15, field) {
                // The value of a flag is in its type.
                (1 | 2, _) => {}
                (5, UNPACKED | PACKED) if depth == 0 => {
                    let sizes = self.sizes.get_or_insert_default();
                    let size = &mut sizes[(field - UNPACKED) as usize];
                    *size = number(&mut self.rest)?;
                }
                (found, _) => self.value(found, kind, depth)?,
            }
        }
    }

    /// A value of the type `found`, which is that of its kind, if it has one.
    fn value(&mut self, found: u8, kind: Option<&Kind>, depth: usize) -> Option<()> {
        match found {
            1..=3 => self.skip(1),
            4..=6 => {
                let found = number(&mut self.rest)?;
                if let Some(Children) = kind {
                    // Even numbers are positive; a negative one is a claim beyond all others.
                    let count = if found % 2 == 0 { found / 2 } else { u64::MAX };
                    self.children = self.children.saturating_add(count);
                }
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = number(&mut self.rest)?;
                self.skip(length)
            }
            9 | 10 => self.list(kind, depth),
            12 if depth < DEEPEST => match kind {
                Some(Structure(fields)) => self.structure(fields, depth + 1),
                _ => self.structure(&[], depth + 1),
            },
            // A description has no maps.
            _ => None,
        }
    }

    fn list(&mut self, kind: Option<&Kind>, depth: usize) -> Option<()> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => number(&mut self.rest)?,
            count => u64::from(count),
        };
        let of = match kind {
            Some(List(of) | Schema(of)) => Some(*of),
            _ => None,
        };
        // There are no lists of lists, and only one schema.
        if matches!(head & 15, 9..=11) || !of.is_none_or(|of| of.is(head & 15)) {
            return None;
        }
        if let Some(Schema(_)) = kind
            && self.columns.replace(count).is_some()
        {
            return None;
        }
        // Each takes a byte or more, so a false number ends soon.
        (0..count).try_for_each(|_| self.value(head & 15, of, depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = include_bytes!("../tests/data/checksums.parquet");

    /// The file with another description.
    fn with(description: &[u8]) -> Bytes {
        let length = (description.len() as u32).to_le_bytes();
        [b"PAR1", description, &length, b"PAR1"].concat().into()
    }

    #[test]
    fn a_schema_that_claims_more_columns_than_it_has_is_found_before_memory_is_taken() {
        assert!(is_sound(&Bytes::from_static(FILE)));
        // A list of two columns, the first of which has 1 of 1, then 2, then 2³⁰, then -1.
        let claim = |count: &[u8]| {
            let group = [&[0x48, 1, b'g', 0x15][..], count, &[0]].concat();
            with(
                &[
                    &[0x15, 2, 0x19, 0x2c][..],
                    &group,
                    &[0x15, 2, 0x38, 1, b'a', 0],
                    &[0],
                ]
                .concat(),
            )
        };
        assert!(is_sound(&claim(&[2])));
        assert!(!is_sound(&claim(&[4])));
        assert!(!is_sound(&claim(&[0x80, 0x80, 0x80, 0x80, 8])));
        assert!(!is_sound(&claim(&[1])));
    }

    #[test]
    fn the_sizes_of_a_page_are_those_of_its_header() {
        let found = page(&FILE[4..]).unwrap();
        let next = page(&FILE[4 + found.size as usize..]).unwrap();
        assert!(found.unpacked >= 24 && next.unpacked >= 24);
        // Type, then sizes of a gigabyte and of 3 bytes.
        let header = [0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 8, 0x15, 6, 0];
        let found = page(&header).unwrap();
        assert_eq!(
            (found.unpacked, found.size),
            (1 << 30, header.len() as u64 + 3)
        );
    }

    #[test]
    fn lists_and_texts_that_claim_more_than_there_is_are_found() {
        for description in [
            &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0][..],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 7, 0],
            &[0x1c; 100],
            &[0x19; 100_000],
            // A flag where the version should be.
            &[0x12, 0],
        ] {
            assert!(!is_sound(&with(description)), "{description:?}");
        }
        // A missing footer is left to the crate.
        assert!(is_sound(&Bytes::from_static(b"PAR1")));
        assert!(is_sound(&Bytes::from_static(b"PAR1\xff\xff\xff\x7fPAR1")));
    }
}
