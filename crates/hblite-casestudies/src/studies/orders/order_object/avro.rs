//! An order in Avro's binary encoding
//! (<https://avro.apache.org/docs/1.12.0/specification/#binary-encoding>).
//!
//! Values stand one after another in the order of the schema, without names or types:
//!
//! ```text
//! long     a varint of the number in zigzag order: 0, -1, 1, -2, …
//! string   [length, long][UTF-8]
//! array    blocks of [number of items, long][items], and at the end a block of none.
//!          A negative number is followed by the size of the block in bytes, a long
//! union    [place of the type in the schema, long][value]
//! ```
//!
//! The second version of the schema has the gift note, a union of null and string:
//!
//! ```text
//! Order             customer string, number string, date long, [gift_note union],
//!                   locations array of ShippingLocation
//! ShippingLocation  number long, line1, line2, city, state, zip string, items array of LineItem
//! LineItem          number long, item_number string, quantity long, price long
//! ```

use hblite_model::protobuf::{read_varint, write_varint};

use super::object::{LineItem, Order, ShippingLocation};

/// The place of null and of string in the union of a gift note.
const NULL: i64 = 0;
const STRING: i64 = 1;

/// Appends an order, with its gift note or without that field.
pub(super) fn write_order(out: &mut Vec<u8>, order: &Order, with_note: bool) {
    write_string(out, &order.customer);
    write_string(out, &order.number);
    write_long(out, order.date);
    match &order.gift_note {
        _ if !with_note => {}
        None => write_long(out, NULL),
        Some(note) => {
            write_long(out, STRING);
            write_string(out, note);
        }
    }
    write_array(out, &order.locations, |out, location| {
        write_long(out, location.number);
        let ShippingLocation { line1, line2, city, state, zip, .. } = location;
        for text in [line1, line2, city, state, zip] {
            write_string(out, text);
        }
        write_array(out, &location.items, |out, item| {
            write_long(out, item.number);
            write_string(out, &item.item_number);
            write_long(out, item.quantity);
            write_long(out, item.price);
        });
    });
}

/// Reads what [`write_order`] wrote.
///
/// # Errors
/// What is wrong with the bytes.
pub(super) fn read_order(bytes: &[u8], with_note: bool) -> Result<Order, String> {
    let mut input = bytes;
    let order = Order {
        customer: read_string(&mut input)?,
        number: read_string(&mut input)?,
        date: read_long(&mut input)?,
        gift_note: if with_note { read_note(&mut input)? } else { None },
        locations: read_array(&mut input, |input| {
            Ok(ShippingLocation {
                number: read_long(input)?,
                line1: read_string(input)?,
                line2: read_string(input)?,
                city: read_string(input)?,
                state: read_string(input)?,
                zip: read_string(input)?,
                items: read_array(input, |input| {
                    Ok(LineItem {
                        number: read_long(input)?,
                        item_number: read_string(input)?,
                        quantity: read_long(input)?,
                        price: read_long(input)?,
                    })
                })?,
            })
        })?,
    };
    if !input.is_empty() {
        return Err(format!("{} bytes follow the order", input.len()));
    }
    Ok(order)
}

fn write_long(out: &mut Vec<u8>, value: i64) {
    write_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn read_long(input: &mut &[u8]) -> Result<i64, String> {
    let zigzag = read_varint(input).ok_or("the bytes end within a number")?;
    Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    write_long(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

fn read_string(input: &mut &[u8]) -> Result<String, String> {
    let length = read_long(input)?;
    let taken = usize::try_from(length).ok().and_then(|length| input.split_off(..length));
    let bytes = taken.ok_or_else(|| format!("a string of {length} bytes does not fit"))?;
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

fn read_note(input: &mut &[u8]) -> Result<Option<String>, String> {
    match read_long(input)? {
        NULL => Ok(None),
        STRING => read_string(input).map(Some),
        place => Err(format!("the union has no type {place}")),
    }
}

fn write_array<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    if !items.is_empty() {
        write_long(out, items.len() as i64);
        items.iter().for_each(|item| write(out, item));
    }
    write_long(out, 0);
}

fn read_array<T>(
    input: &mut &[u8],
    read: impl Fn(&mut &[u8]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut items = Vec::new();
    loop {
        let count = read_long(input)?;
        if count < 0 {
            read_long(input)?;
        }
        if count == 0 {
            return Ok(items);
        }
        // Each item takes bytes, so a wrong count ends with them.
        for _ in 0..count.unsigned_abs() {
            items.push(read(input)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RecordId;

    /// What the library `apache_avro` 0.21 wrote for two generated orders, without a note and with
    /// one.
    const WRITTEN: [&str; 2] = [
        "104330303030303031144f30303030303030303080ccc9fdf962020216383531205061726b20506c\
         0e666c6f6f7220370e53656174746c650457410a39383130310802126974656d383637323808d4c1\
         0304126974656d39383737300ede8d0706126974656d383130383812baf80408126974656d303932\
         33330cb0f2090000",
        "104330303030303031144f303030303030303031c0f5d0fdf962021a466f7220796f752c20303030\
         31020216333131204f616b204176650e666c6f6f7220360e53656174746c650457410a3938313031\
         0202126974656d343835373010aad7030000",
    ];

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn orders_are_written_as_the_library_does() {
        for (index, with_note) in [(0, false), (1, true)] {
            let order = Order::generate(&RecordId { seed: 5, index, entity: 1 });
            let mut written = Vec::new();
            write_order(&mut written, &order, with_note);
            assert_eq!(hex(&written), WRITTEN[index as usize]);
            assert_eq!(read_order(&written, with_note), Ok(order));
        }
    }

    #[test]
    fn numbers_are_those_of_the_specification() {
        for (value, expected) in [
            (0, "00"),
            (-1, "01"),
            (1, "02"),
            (-64, "7f"),
            (64, "8001"),
            (i64::MIN, "ffffffffffffffffff01"),
            (i64::MAX, "feffffffffffffffff01"),
        ] {
            let mut written = Vec::new();
            write_long(&mut written, value);
            assert_eq!(hex(&written), expected);
            assert_eq!(read_long(&mut written.as_slice()), Ok(value));
        }
    }

    #[test]
    fn blocks_with_a_size_and_wrong_counts() {
        // Two items in a block of two bytes, then one.
        let blocks = [0x03, 0x04, 0x02, 0x04, 0x02, 0x06, 0x00];
        assert_eq!(read_array(&mut &blocks[..], read_long), Ok(vec![1, 2, 3]));
        let endless = [0xfe, 0xff, 0xff, 0xff, 0x0f, 0x02];
        assert!(read_array(&mut &endless[..], read_long).is_err());
        assert!(read_note(&mut &[4_u8][..]).is_err());
        let mut bytes = Vec::new();
        write_order(&mut bytes, &Order::generate(&RecordId { seed: 5, index: 0, entity: 1 }), true);
        bytes.push(0);
        assert_eq!(read_order(&bytes, true), Err("1 bytes follow the order".to_owned()));
    }
}
