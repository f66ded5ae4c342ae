package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// jsonMember is one name of a JSON object with its value. encoding/json's own structs would take the last of
// several equal names, and names that differ in case, without a word.
type jsonMember struct {
	name  string
	value json.RawMessage
}

// jsonMembers returns the members of the object that data holds, and nothing but holds, in the order written.
func jsonMembers(data []byte) ([]jsonMember, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil {
		return nil, shortJSONError(err)
	} else if token != json.Delim('{') {
		return nil, errors.New("want an object")
	}
	var members []jsonMember
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, shortJSONError(err)
		}
		name, _ := token.(string) // the decoder has checked that a name stands here
		member := jsonMember{name: name}
		if err := decoder.Decode(&member.value); err != nil {
			return nil, shortJSONError(err)
		}
		for _, earlier := range members {
			if earlier.name == name {
				return nil, fmt.Errorf("%s is there twice", quote(name))
			}
		}
		if members = append(members, member); len(members) > MaxBlockIOVolumes {
			return nil, fmt.Errorf("want at most %d volumes", MaxBlockIOVolumes)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, shortJSONError(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want nothing behind the object")
	}
	return members, nil
}

// shortJSONError says in words what is meant by an end of input.
func shortJSONError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

func (m jsonMember) isObject() bool { return len(m.value) > 0 && m.value[0] == '{' }

// text returns a string's contents, or a number as it is written.
func (m jsonMember) text() (string, error) {
	if len(m.value) > 0 && (m.value[0] == '-' || m.value[0] >= '0' && m.value[0] <= '9') {
		return string(m.value), nil
	}
	var text *string
	if err := json.Unmarshal(m.value, &text); err != nil || text == nil {
		return "", fmt.Errorf("%s: want a string such as \"30Mi\", found %s", quote(m.name), quote(string(m.value)))
	}
	return *text, nil
}

// blockIORate is one rate of an object of rates.
type blockIORate struct {
	name      string
	given     bool
	perSecond int64
	sized     bool  // a block size stood behind a slash
	blockSize int64 // the default when none did
}

// The places of the rates in a blockIORates.
const (
	readBytes = iota
	writeBytes
	readOps
	writeOps
	rateCount
)

type blockIORates [rateCount]blockIORate

func noBlockIORates() blockIORates {
	return blockIORates{
		readBytes:  {name: "rbps", blockSize: DefaultBlockIOSize},
		writeBytes: {name: "wbps", blockSize: DefaultBlockIOSize},
		readOps:    {name: "riops"},
		writeOps:   {name: "wiops"},
	}
}

func (r *blockIORates) any() bool {
	for i := range r {
		if r[i].given {
			return true
		}
	}
	return false
}

func (r *blockIORates) into(demand *BlockIODemand) {
	demand.ReadBytesPerSecond, demand.WriteBytesPerSecond = r[readBytes].perSecond, r[writeBytes].perSecond
	demand.ReadIOPS, demand.WriteIOPS = r[readOps].perSecond, r[writeOps].perSecond
}

func parseRatesObject(member jsonMember) (blockIORates, error) {
	members, err := jsonMembers(member.value)
	if err != nil {
		return blockIORates{}, fmt.Errorf("want an object such as {\"rbps\":\"50Mi/4k\"}, found %s: %w", quote(string(member.value)), err)
	}
	return parseRates(members, func(other jsonMember) error {
		return fmt.Errorf("want rbps, wbps, riops or wiops, found %s", quote(other.name))
	})
}

// parseRates reads the members that are rates and passes each other one on.
func parseRates(members []jsonMember, other func(jsonMember) error) (blockIORates, error) {
	rates := noBlockIORates()
	seen := map[string]bool{}
	for _, member := range members {
		lower := strings.ToLower(member.name)
		if seen[lower] {
			return blockIORates{}, fmt.Errorf("%s is there twice, in different case", quote(member.name))
		}
		seen[lower] = true
		place := slices.IndexFunc(rates[:], func(r blockIORate) bool { return strings.EqualFold(r.name, member.name) })
		if place < 0 || place >= len(rates) {
			if err := other(member); err != nil {
				return blockIORates{}, err
			}
			continue
		}
		if err := rates[place].parse(member, place < readOps); err != nil {
			return blockIORates{}, err
		}
	}
	return rates, nil
}

func (r *blockIORate) parse(member jsonMember, ofBytes bool) error {
	text, err := member.text()
	if err != nil {
		return err
	}
	number, size, sized := strings.Cut(text, "/")
	if sized && !ofBytes {
		return fmt.Errorf("%s: want a number of operations without a block size, found %s", r.name, quote(text))
	}
	if r.perSecond, err = parseCount(number, MaxBlockIORate); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if sized {
		if r.blockSize, err = blockSizeAround(size); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	r.given, r.sized = true, sized
	return nil
}

// maxQuantityText bounds the length of a quantity. MaxBlockIORate has 16 digits; there is room for decimals.
const maxQuantityText = 40

// parseCount reads a quantity from 0 to limit, rounded up.
func parseCount(text string, limit int64) (int64, error) {
	fault := func() error {
		return fmt.Errorf("want a quantity from 0 to %d such as \"30Mi\", found %s", limit, quote(text))
	}
	if len(text) > maxQuantityText || hasHugeExponent(text) {
		return 0, fault()
	}
	quantity, err := resource.ParseQuantity(text)
	// Compared as a quantity: Value() of what does not fit into 64 bits is some other number.
	if err != nil || quantity.Sign() < 0 || quantity.Cmp(*resource.NewQuantity(limit, resource.DecimalSI)) > 0 {
		return 0, fault()
	}
	return quantity.Value(), nil
}

// hasHugeExponent reports an exponent of more than two digits. The quantity 1e9999999 takes ParseQuantity or a
// comparison more than a second, since they write the number out, and each digit more ten times as long.
func hasHugeExponent(text string) bool {
	i := strings.IndexAny(text, "eE")
	return i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > 2
}

// blockSize is one of the sizes that devices are measured at.
type blockSize struct {
	// name and long are its names in the flat form.
	name, long string
	// bytes is what it means; decimal is what its name means in the volume-keyed form.
	bytes, decimal int64
}

func blockSizes() [6]blockSize {
	return [...]blockSize{
		{"512", "512", 512, 512},
		{"1k", "1Ki", 1 << 10, 1000},
		{"4k", "4Ki", 4 << 10, 4000},
		{"8k", "8Ki", 8 << 10, 8000},
		{"16k", "16Ki", 16 << 10, 16000},
		{"32k", "32Ki", 32 << 10, 32000},
	}
}

// blockSizeNamed returns the bytes of a block size in the flat form.
func blockSizeNamed(text string) (int64, error) {
	for _, size := range blockSizes() {
		if text == size.name || text == size.long {
			return size.bytes, nil
		}
	}
	return 0, fmt.Errorf("unsupported block size: want 512, 1k, 4k, 8k, 16k or 32k, found %s", quote(text))
}

// blockSizeAround returns the bytes of a block size in the volume-keyed form; see ParseBlockIO.
func blockSizeAround(text string) (int64, error) {
	number, err := parseCount(strings.TrimSuffix(text, "B"), MaxBlockIORate)
	if err != nil || number == 0 {
		return 0, fmt.Errorf("unsupported block size: want a number of bytes above zero such as 4k, found %s", quote(text))
	}
	sizes := blockSizes()
	around := sizes[0].bytes
	for _, size := range sizes {
		if number >= size.decimal {
			around = size.bytes
		}
	}
	return around, nil
}
