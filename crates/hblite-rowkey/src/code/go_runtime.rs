//! The pieces for Go, which panic; `caught` makes an error of it.

use super::runtime::Pieces;

pub(super) const GO: Pieces = &[
    (
        "number",
        "\
func number(value uint64, width int, most, mask uint64) []byte {
	if value > most {
		panic(fmt.Errorf(\"%d is not from 0 to %d\", value, most))
	}
	return binary.BigEndian.AppendUint64(nil, value^mask)[8-width:]
}
",
    ),
    (
        "value",
        "\
func value(taken []byte, most, mask uint64) uint64 {
	number := uint64(0)
	for _, one := range taken {
		number = number<<8 | uint64(one)
	}
	number ^= mask
	if number > most {
		panic(fmt.Errorf(\"%d is greater than %d\", number, most))
	}
	return number
}
",
    ),
    (
        "fixed",
        "\
func fixed(data []byte, width int, isText bool) []byte {
	if len(data) > width || isText && bytes.IndexByte(data, 0) >= 0 || !isText && len(data) < width {
		panic(fmt.Errorf(\"%q does not fit into %d bytes\", data, width))
	}
	return data
}
",
    ),
    (
        "delimited",
        "\
func delimited(data []byte, delimiter byte) []byte {
	for _, one := range data {
		if one <= delimiter {
			panic(fmt.Errorf(\"%q has a byte that is not above the delimiter %d\", data, delimiter))
		}
	}
	return data
}
",
    ),
    (
        "reversed",
        "\
func reversed(text string) string {
	turned := []rune(text)
	slices.Reverse(turned)
	return string(turned)
}
",
    ),
    (
        "domain",
        "\
func domain(text string) string {
	labels := strings.Split(text, \".\")
	slices.Reverse(labels)
	return strings.Join(labels, \".\")
}
",
    ),
    (
        "hash",
        "\
// FNV-1a, 64 bits, then the finalizer of MurmurHash3.
func hash(data []byte) uint64 {
	h := uint64(0xCBF29CE484222325)
	for _, one := range data {
		h = (h ^ uint64(one)) * 0x100000001B3
	}
	h = (h ^ h>>33) * 0xFF51AFD7ED558CCD
	h = (h ^ h>>33) * 0xC4CEB9FE1A85EC53
	return h ^ h>>33
}
",
    ),
    (
        "digest",
        "\
func digest(data []byte) []byte {
	sum := md5.Sum(data)
	return sum[:]
}
",
    ),
    (
        "unhex",
        "\
func unhex(digits string) []byte {
	data, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return data
}
",
    ),
    (
        "caught",
        "\
func caught(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf(\"%v\", reason)
	}
}
",
    ),
    (
        "reader",
        "\
type reader struct{ key []byte }

func (r *reader) take(width int) []byte {
	if len(r.key) < width {
		panic(errors.New(\"the key is too short\"))
	}
	taken := r.key[:width]
	r.key = r.key[width:]
	return taken
}

func (r *reader) until(delimiter byte) []byte {
	at := bytes.IndexByte(r.key, delimiter)
	if at < 0 {
		panic(errors.New(\"a delimiter is missing\"))
	}
	taken := r.take(at)
	r.take(1)
	return taken
}

func (r *reader) unescaped() []byte {
	taken := []byte{}
	for {
		taken = append(taken, r.until(0)...)
		if r.take(1)[0] == 1 {
			return taken
		}
		taken = append(taken, 0)
	}
}

func (r *reader) expect(literal []byte) {
	if !bytes.Equal(r.take(len(literal)), literal) {
		panic(fmt.Errorf(\"the key does not have %q\", literal))
	}
}

func (r *reader) finish() {
	if len(r.key) > 0 {
		panic(fmt.Errorf(\"%q follows the last field\", r.key))
	}
}
",
    ),
];
