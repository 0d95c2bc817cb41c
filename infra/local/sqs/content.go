package sqs

import (
	"crypto/md5" //nolint:gosec // SQS's checksum, not a secret
	"encoding/binary"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// messageAttribute is an attribute of a message in requests and responses.
type messageAttribute struct {
	DataType string  `json:"DataType,omitzero"`
	String   *string `json:"StringValue,omitzero"`
	Binary   []byte  `json:"BinaryValue,omitempty"`
}

const (
	maxAttributes     = 10
	maxAttributeBytes = 256 // of names and types

	attributeTrace = "AWSTraceHeader"
	typeString     = "String"
	typeNumber     = "Number"
	typeBinary     = "Binary"
)

// isText reports whether XML 1.0 can represent a text.
func isText(text string) bool {
	for _, r := range text {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF || !utf8.ValidRune(r) {
			return false
		}
	}
	return true
}

var (
	attributeName  = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	reservedPrefix = regexp.MustCompile(`(?i)^(aws|amazon)\.`)
	attributeType  = regexp.MustCompile(`^(String|Number|Binary)(\..+)?$`)
	numberText     = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$`)
)

// checkAttributes checks the attributes of a message and returns them in the order of their names.
func checkAttributes(given map[string]messageAttribute) ([]attributeValue, error) {
	if len(given) > maxAttributes {
		return nil, invalid("A message must have at most %d attributes.", maxAttributes)
	}
	var values []attributeValue
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := given[name].check(name)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func (a messageAttribute) check(name string) (attributeValue, error) {
	value := attributeValue{Name: name, Type: a.DataType}
	if len(name) > maxAttributeBytes || !attributeName.MatchString(name) || reservedPrefix.MatchString(name) {
		return value, invalid("The name of the message attribute %q is not valid. It must have at most %d letters, digits, "+
			"underscores, hyphens and single periods, and not begin with AWS. or Amazon.", name, maxAttributeBytes)
	}
	if len(a.DataType) > maxAttributeBytes || !attributeType.MatchString(a.DataType) {
		return value, invalid("The DataType of the message attribute %s must be String, Number or Binary, "+
			"with an optional label such as Number.int.", name)
	}
	if strings.HasPrefix(a.DataType, typeBinary) {
		value.Binary, value.Value = true, string(a.Binary)
	} else if a.String != nil {
		value.Value = *a.String
	}
	hasBoth := a.String != nil && len(a.Binary) > 0
	if value.Value == "" || hasBoth || !value.Binary && !isText(value.Value) {
		return value, invalid("The message attribute %s must have one value that is not empty, of its DataType.", name)
	}
	if strings.HasPrefix(a.DataType, typeNumber) && !numberText.MatchString(value.Value) {
		return value, invalid("The value of the message attribute %s must be a number.", name)
	}
	return value, nil
}

// sumOf returns the checksum of a body.
func sumOf(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // SQS's checksum, not a secret
	return hex.EncodeToString(sum[:])
}

// sumOfAttributes returns the checksum of attributes that are in the order of their names, "" if there are none. See
// the SQS Developer Guide, "Calculating the MD5 message digest for message attributes".
func sumOfAttributes(values []attributeValue) string {
	if len(values) == 0 {
		return ""
	}
	var plain []byte
	field := func(text string) {
		plain = binary.BigEndian.AppendUint32(plain, uint32(len(text)))
		plain = append(plain, text...)
	}
	for _, v := range values {
		field(v.Name)
		field(v.Type)
		transport := byte(1)
		if v.Binary {
			transport = 2
		}
		plain = append(plain, transport)
		field(v.Value)
	}
	return sumOf(string(plain))
}
