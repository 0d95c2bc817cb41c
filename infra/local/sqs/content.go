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

// wireAttribute is a message attribute as requests and answers have it.
type wireAttribute struct {
	DataType   string   `json:"DataType,omitzero"`
	String     *string  `json:"StringValue,omitzero"`
	Binary     []byte   `json:"BinaryValue,omitempty"`
	Strings    []string `json:"StringListValues,omitempty"`
	BinaryList [][]byte `json:"BinaryListValues,omitempty"`
}

const (
	mostAttributes     = 10
	mostAttributeBytes = 256 // of names and types
	attributeTrace     = "AWSTraceHeader"
	typeString         = "String"
	typeNumber         = "Number"
	typeBinary         = "Binary"
	badText            = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"
)

// checkText accepts what XML 1.0 can hold.
func checkText(text string) error {
	for _, r := range text {
		if !isXML(r) {
			return refuse(typeMessageContents, badText)
		}
	}
	return nil
}

func isXML(r rune) bool {
	if r < 0x20 {
		return r == '\t' || r == '\n' || r == '\r'
	}
	return r != 0xFFFE && r != 0xFFFF && utf8.ValidRune(r)
}

var groupName = regexp.MustCompile("^[A-Za-z0-9!-/:-@\\[-`{-~]{1,128}$")

// isGroup accepts letters, digits and ASCII's punctuation.
func isGroup(name string) bool { return groupName.MatchString(name) }

var attributeName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// checkAttributes checks message attributes and returns them in the order of their names.
func checkAttributes(given map[string]wireAttribute) ([]attributeValue, error) {
	if len(given) > mostAttributes {
		return nil, invalid("Number of message attributes [%d] exceeds the allowed maximum [%d].", len(given), mostAttributes)
	}
	var values []attributeValue
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := checkAttributeName(name); err != nil {
			return nil, err
		}
		value, err := given[name].check(name)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func checkAttributeName(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		return invalid("The request must contain non-empty message attribute name.")
	case len(name) > mostAttributeBytes:
		return invalid("Length of message (user) attribute name must be at most %d bytes.", mostAttributeBytes)
	case !attributeName.MatchString(name):
		return invalid("Message (user) attribute name '%s' is invalid. It can contain only A-Z, a-z, 0-9, underscores, hyphens and periods.", name)
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, "."), strings.Contains(name, ".."):
		return invalid("Message (user) attribute name '%s' is invalid. It must not start or end with a period or have periods in succession.", name)
	case strings.HasPrefix(lower, "aws."), strings.HasPrefix(lower, "amazon."):
		return invalid("Message (user) attribute name '%s' is invalid. Names that start with AWS. or Amazon. are reserved.", name)
	default:
		return nil
	}
}

// numberText is a decimal number of at most 38 digits, as AWS takes it.
var numberText = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$`)

const mostDigits = 38

// check checks one attribute's type and value.
func (a wireAttribute) check(name string) (attributeValue, error) {
	value := attributeValue{Name: name, Type: a.DataType}
	if len(a.Strings) > 0 || len(a.BinaryList) > 0 {
		return value, refuse(typeUnsupported, "Message attribute list values in SendMessage operation are not supported.")
	}
	if a.DataType == "" {
		return value, invalid("The message attribute '%s' must contain non-empty message attribute type.", name)
	}
	base, label, labelled := strings.Cut(a.DataType, ".")
	if base != typeString && base != typeNumber && base != typeBinary || labelled && label == "" {
		return value, invalid("The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
	}
	if len(a.DataType) > mostAttributeBytes {
		return value, invalid("Length of message (user) attribute type must be at most %d bytes.", mostAttributeBytes)
	}
	if base == typeBinary {
		if len(a.Binary) == 0 || a.String != nil {
			return value, emptyAttribute(name, base)
		}
		value.Binary, value.Value = true, string(a.Binary)
		return value, nil
	}
	if a.String == nil || *a.String == "" || len(a.Binary) > 0 {
		return value, emptyAttribute(name, base)
	}
	value.Value = *a.String
	if checkText(value.Value) != nil {
		return value, invalid(badText) // another type than for a body
	}
	if base == typeNumber && !isNumber(value.Value) {
		return value, invalid("Can't cast the value of message (user) attribute '%s' to a number.", name)
	}
	return value, nil
}

func isNumber(text string) bool {
	digits := strings.TrimLeft(strings.ReplaceAll(numberText.FindString(text), ".", ""), "+-0")
	if exponent := strings.IndexAny(digits, "eE"); exponent >= 0 {
		digits = digits[:exponent]
	}
	return numberText.MatchString(text) && len(digits) <= mostDigits
}

func emptyAttribute(name, kind string) error {
	return invalid("Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, kind)
}

// checkSystemAttributes accepts the one system attribute there is, and returns its value.
func checkSystemAttributes(given map[string]*wireAttribute) (trace string, err error) {
	for name, a := range given {
		if name != attributeTrace {
			return "", invalid("Message system attribute name '%s' is invalid.", name)
		}
		if a == nil || a.DataType != typeString {
			return "", invalid("The type of message (system) attribute '%s' is invalid. You must use only the following supported type prefixes: String.", name)
		}
		if a.String == nil || *a.String == "" {
			return "", invalid("Message (system) attribute '%s' must contain a non-empty value of type 'String'.", name)
		}
		if checkText(*a.String) != nil {
			return "", invalid(badText)
		}
		trace = *a.String
	}
	return trace, nil
}

// sumOf is the checksum of a body.
func sumOf(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // SQS's checksum, not a secret
	return hex.EncodeToString(sum[:])
}

// sumOfAttributes is the checksum of attributes in the order of their names, by
// the rules of the Developer Guide ("Calculating the MD5 message digest for
// message attributes"); "" of none.
func sumOfAttributes(values []attributeValue) string {
	if len(values) == 0 {
		return ""
	}
	var plain []byte
	field := func(text string) {
		plain = binary.BigEndian.AppendUint32(plain, uint32(len(text))) //nolint:gosec // at most the size of a message
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
