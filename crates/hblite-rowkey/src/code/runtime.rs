//! What the generated programs call: pieces of each language, of which a program has those that it
//! needs. The same name means the same in all languages.
//!
//! | name | |
//! |---|---|
//! | `number`, `value` | a number as bytes, most significant first, xor a mask; and back |
//! | `fixed`, `padded` | text or bytes of a width: checked, then filled with zero bytes |
//! | `delimited`, `escaped` | text or bytes before a delimiter, or before 00 01 |
//! | `reversed`, `domain` | text backwards by characters, or by labels |
//! | `hash` | the hash of salts |
//! | `md5`, `hexed`, `unhex` | a digest; bytes as hexadecimal digits, and back |
//! | `Reader` | the parts of a key, one after the other |

pub(super) type Pieces = &'static [(&'static str, &'static str)];

pub(super) const PYTHON: Pieces = &[
    (
        "number",
        "\
def number(value, width, most, mask):
    if not 0 <= value <= most:
        raise ValueError(f\"{value} is not from 0 to {most}\")
    return (value ^ mask).to_bytes(width, \"big\")
",
    ),
    (
        "value",
        "\
def value(taken, most, mask):
    number = int.from_bytes(taken, \"big\") ^ mask
    if number > most:
        raise ValueError(f\"{number} is greater than {most}\")
    return number
",
    ),
    (
        "signed",
        "\
def signed(number):
    if not -(2**63) <= number < 2**63:
        raise ValueError(f\"{number} has more than 64 bits\")
    return number % 2**64
",
    ),
    (
        "turned",
        "\
def turned(number):
    return int(f\"{number:064b}\"[::-1], 2)
",
    ),
    (
        "fixed",
        "\
def fixed(data, width, is_text):
    if len(data) > width or (0 in data if is_text else len(data) < width):
        raise ValueError(f\"{data!r} does not fit into {width} bytes\")
    return data
",
    ),
    (
        "delimited",
        "\
def delimited(data, delimiter):
    if any(byte <= delimiter for byte in data):
        raise ValueError(f\"{data!r} has a byte that is not above the delimiter {delimiter}\")
    return data
",
    ),
    (
        "hash",
        "\
def hash(data):
    \"\"\"FNV-1a, 64 bits, then the finalizer of MurmurHash3.\"\"\"
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) % 2**64
    h = ((h ^ h >> 33) * 0xFF51AFD7ED558CCD) % 2**64
    h = ((h ^ h >> 33) * 0xC4CEB9FE1A85EC53) % 2**64
    return h ^ h >> 33
",
    ),
    (
        "Reader",
        "\
class Reader:
    def __init__(self, key):
        self.key = key

    def take(self, width):
        if len(self.key) < width:
            raise ValueError(\"the key is too short\")
        taken, self.key = self.key[:width], self.key[width:]
        return taken

    def until(self, end):
        at = self.key.find(end)
        taken = self.take(at if at >= 0 else len(self.key) + 1)
        self.take(len(end))
        return taken

    def unescaped(self):
        taken = b\"\"
        while True:
            taken += self.until(b\"\\0\")
            if self.take(1) == b\"\\1\":
                return taken
            taken += b\"\\0\"

    def expect(self, literal):
        if self.take(len(literal)) != literal:
            raise ValueError(f\"the key does not have {literal!r}\")

    def finish(self):
        self.expect(self.key[:0])
        if self.key:
            raise ValueError(f\"{self.key!r} follows the last field\")
",
    ),
];

pub(super) const JAVA: Pieces = &[
    (
        "number",
        "\
    static byte[] number(long value, int width, long most, long mask) {
        if (Long.compareUnsigned(value, most) > 0) {
            throw new IllegalArgumentException(
                Long.toUnsignedString(value) + \" is above \" + Long.toUnsignedString(most));
        }
        byte[] data = ByteBuffer.allocate(8).putLong(value ^ mask).array();
        return Arrays.copyOfRange(data, 8 - width, 8);
    }
",
    ),
    (
        "value",
        "\
    static long value(byte[] taken, long most, long mask) {
        long number = 0;
        for (byte one : taken) {
            number = number << 8 | one & 0xFF;
        }
        number ^= mask;
        if (Long.compareUnsigned(number, most) > 0) {
            throw new IllegalArgumentException(\"the number is greater than \" + most);
        }
        return number;
    }
",
    ),
    (
        "fixed",
        "\
    static byte[] fixed(byte[] data, int width, boolean isText) {
        boolean hasZero = false;
        for (byte one : data) {
            hasZero |= one == 0;
        }
        if (data.length > width || (isText ? hasZero : data.length < width)) {
            throw new IllegalArgumentException(\"the value does not fit: \" + width + \" bytes\");
        }
        return data;
    }
",
    ),
    (
        "delimited",
        "\
    static byte[] delimited(byte[] data, int delimiter) {
        for (byte one : data) {
            if ((one & 0xFF) <= delimiter) {
                throw new IllegalArgumentException(\"a byte is not above the delimiter\");
            }
        }
        return data;
    }
",
    ),
    (
        "escaped",
        "\
    static byte[] escaped(byte[] data) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte one : data) {
            out.write(one);
            if (one == 0) {
                out.write(0xFF);
            }
        }
        return out.toByteArray();
    }
",
    ),
    (
        "reversed",
        "\
    static String reversed(String text) {
        return new StringBuilder(text).reverse().toString();
    }
",
    ),
    (
        "domain",
        "\
    static String domain(String text) {
        List<String> labels = Arrays.asList(text.split(\"\\\\.\", -1));
        Collections.reverse(labels);
        return String.join(\".\", labels);
    }
",
    ),
    (
        "trimmed",
        "\
    static byte[] trimmed(byte[] data) {
        int end = data.length;
        while (end > 0 && data[end - 1] == 0) {
            end--;
        }
        return Arrays.copyOf(data, end);
    }
",
    ),
    (
        "hash",
        "\
    /** FNV-1a, 64 bits, then the finalizer of MurmurHash3. */
    static long hash(byte[] data) {
        long h = 0xCBF29CE484222325L;
        for (byte one : data) {
            h = (h ^ one & 0xFF) * 0x100000001B3L;
        }
        h = (h ^ h >>> 33) * 0xFF51AFD7ED558CCDL;
        h = (h ^ h >>> 33) * 0xC4CEB9FE1A85EC53L;
        return h ^ h >>> 33;
    }
",
    ),
    (
        "md5",
        "\
    static byte[] md5(byte[] data) {
        try {
            return MessageDigest.getInstance(\"MD5\").digest(data);
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
",
    ),
    (
        "hexed",
        "\
    static byte[] hexed(byte[] data) {
        StringBuilder digits = new StringBuilder();
        for (byte one : data) {
            digits.append(String.format(\"%02x\", one));
        }
        return digits.toString().getBytes(StandardCharsets.UTF_8);
    }
",
    ),
    (
        "unhex",
        "\
    static byte[] unhex(String digits) {
        byte[] data = new byte[digits.length() / 2];
        for (int at = 0; at < data.length; at++) {
            data[at] = (byte) Integer.parseInt(digits.substring(2 * at, 2 * at + 2), 16);
        }
        return data;
    }
",
    ),
    (
        "join",
        "\
    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.write(part, 0, part.length);
        }
        return out.toByteArray();
    }
",
    ),
    (
        "Reader",
        "\
    static final class Reader {
        private final byte[] key;
        private int at;

        Reader(byte[] key) {
            this.key = key;
        }

        byte[] take(int width) {
            if (key.length - at < width) {
                throw new IllegalArgumentException(\"the key is too short\");
            }
            at += width;
            return Arrays.copyOfRange(key, at - width, at);
        }

        byte[] rest() {
            return take(key.length - at);
        }

        byte[] until(int delimiter) {
            int end = at;
            while (end < key.length && (key[end] & 0xFF) != delimiter) {
                end++;
            }
            byte[] taken = take(end - at);
            take(1);
            return taken;
        }

        byte[] unescaped() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            while (true) {
                byte[] taken = until(0);
                out.write(taken, 0, taken.length);
                if (take(1)[0] == 1) {
                    return out.toByteArray();
                }
                out.write(0);
            }
        }

        void expect(byte[] literal) {
            if (!Arrays.equals(take(literal.length), literal)) {
                throw new IllegalArgumentException(\"the key does not have its literal\");
            }
        }

        void finish() {
            if (at < key.length) {
                throw new IllegalArgumentException(\"bytes follow the last field\");
            }
        }
    }
",
    ),
];
