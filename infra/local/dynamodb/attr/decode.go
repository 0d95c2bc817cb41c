package attr

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalJSONFrom reads {"S": "text"} and its like. An *Error is a
// SerializationException; a value that breaks a rule has KindInvalid.
func (v *Value) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := decodeValue(dec, 1)
	*v = value
	return err
}

// UnmarshalJSONFrom reads {"name": {"S": "text"}, …} under the rules of
// [Value.UnmarshalJSONFrom]; null gives a nil item.
func (i *Item) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	item, _, err := decodeItem(dec, 1)
	*i = item
	return err
}

// memberDecoder reads the content of one type into a value; what breaks a rule
// of DynamoDB is returned as AWS's text.
type memberDecoder func(dec *jsontext.Decoder, v *Value, depth int) (problem string, err error)

var memberDecoders [NULL + 1]memberDecoder

// The table refers to decoders that come back to it through nested values.
func init() {
	memberDecoders = [...]memberDecoder{
		S: decodeString, N: decodeNumber, B: decodeBinary,
		SS: decodeStringSet, NS: decodeNumberSet, BS: decodeBinarySet,
		M: decodeMap, L: decodeList, BOOL: decodeBool, NULL: decodeNull,
	}
}

func decodeValue(dec *jsontext.Decoder, depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{S: msgNesting}, skip(dec)
	}
	switch kind := dec.PeekKind(); kind {
	case jsontext.KindBeginObject:
	case jsontext.KindNull:
		return Value{S: msgEmptyValue}, skip(dec)
	case jsontext.KindBeginArray:
		return Value{}, serializationError(msgCollection + "class " + classAttribute)
	case jsontext.KindInvalid:
		return Value{}, skip(dec)
	default:
		return Value{}, serializationError(msgPayloadType)
	}
	if _, err := readToken(dec); err != nil {
		return Value{}, err
	}
	var v Value
	types, problem := 0, ""
	for dec.PeekKind() != jsontext.KindEndObject {
		found, err := decodeMember(dec, &v, depth)
		if err != nil {
			return Value{}, err
		}
		types += found.types
		if problem == "" {
			problem = found.problem
		}
	}
	if _, err := readToken(dec); err != nil {
		return Value{}, err
	}
	switch {
	case problem != "":
		return Value{S: problem}, nil
	case types == 0:
		return Value{S: msgEmptyValue}, nil
	case types > 1:
		return Value{S: msgManyTypes}, nil
	}
	return v, nil
}

type member struct {
	types   int // 1 when the member was one of the types, and not null
	problem string
}

func decodeMember(dec *jsontext.Decoder, v *Value, depth int) (member, error) {
	name, err := readToken(dec)
	if err != nil {
		return member{}, err
	}
	kind, known := ParseKind(name.String())
	if !known || dec.PeekKind() == jsontext.KindNull {
		return member{}, skip(dec)
	}
	v.Kind = kind
	problem, err := memberDecoders[kind](dec, v, depth)
	return member{types: 1, problem: problem}, err
}

func decodeString(dec *jsontext.Decoder, v *Value, _ int) (_ string, err error) {
	v.S, err = readString(dec)
	return "", err
}

func decodeNumber(dec *jsontext.Decoder, v *Value, _ int) (string, error) {
	text, err := readString(dec)
	if err != nil {
		return "", err
	}
	number, problem := parseNumber(text)
	v.N = number
	return problem, nil
}

func decodeBinary(dec *jsontext.Decoder, v *Value, _ int) (_ string, err error) {
	v.B, err = readBytes(dec)
	return "", err
}

func decodeStringSet(dec *jsontext.Decoder, v *Value, _ int) (string, error) {
	members, err := readList(dec, readString)
	switch {
	case err != nil:
		return "", err
	case len(members) == 0:
		return msgEmptySS, nil
	case hasDuplicate(members, stringKey):
		return msgInvalidPrefix + "Input collection [" + strings.Join(members, ", ") + "] contains duplicates.", nil
	}
	v.SS = members
	return "", nil
}

func decodeNumberSet(dec *jsontext.Decoder, v *Value, _ int) (string, error) {
	texts, err := readList(dec, readString)
	if err != nil {
		return "", err
	}
	if len(texts) == 0 {
		return msgEmptyNS, nil
	}
	members := make([]Number, len(texts))
	for i, text := range texts {
		number, problem := parseNumber(text)
		if problem != "" {
			return problem, nil
		}
		members[i] = number
	}
	if hasDuplicate(members, numberKey) {
		return msgDuplicateNS, nil
	}
	v.NS = members
	return "", nil
}

func decodeBinarySet(dec *jsontext.Decoder, v *Value, _ int) (string, error) {
	members, err := readList(dec, readBytes)
	switch {
	case err != nil:
		return "", err
	case len(members) == 0:
		return msgEmptyBS, nil
	case hasDuplicate(members, bytesKey):
		texts := make([]string, len(members))
		for i, m := range members {
			texts[i] = base64.StdEncoding.EncodeToString(m)
		}
		return msgInvalidPrefix + "Input collection [" + strings.Join(texts, ", ") + "]of type BS contains duplicates.", nil
	}
	v.BS = members
	return "", nil
}

func decodeBool(dec *jsontext.Decoder, v *Value, _ int) (_ string, err error) {
	v.Bool, err = readBool(dec)
	return "", err
}

// decodeNull takes {"NULL": false} for null, as AWS does since 2026.
func decodeNull(dec *jsontext.Decoder, _ *Value, _ int) (string, error) {
	_, err := readBool(dec)
	return "", err
}

func decodeMap(dec *jsontext.Decoder, v *Value, depth int) (problem string, err error) {
	v.M, problem, err = decodeItem(dec, depth+1)
	return problem, err
}

func decodeList(dec *jsontext.Decoder, v *Value, depth int) (problem string, err error) {
	v.L, err = readList(dec, func(dec *jsontext.Decoder) (Value, error) {
		element, err := decodeValue(dec, depth+1)
		if problem == "" && element.Kind == KindInvalid {
			problem = element.S
		}
		return element, err
	})
	return problem, err
}

// decodeItem also returns the first problem of the values, in the order given.
func decodeItem(dec *jsontext.Decoder, depth int) (_ Item, problem string, err error) {
	switch dec.PeekKind() {
	case jsontext.KindBeginObject:
	case jsontext.KindNull, jsontext.KindInvalid:
		return nil, "", skip(dec)
	case jsontext.KindBeginArray:
		return nil, "", serializationError(msgCollection + classItem)
	default:
		return nil, "", serializationError(msgFieldType)
	}
	if _, err := readToken(dec); err != nil {
		return nil, "", err
	}
	item := Item{}
	for dec.PeekKind() != jsontext.KindEndObject {
		token, err := readToken(dec)
		if err != nil {
			return nil, "", err
		}
		name := token.String()
		value, err := decodeValue(dec, depth)
		if err != nil {
			return nil, "", err
		}
		if problem == "" && value.Kind == KindInvalid {
			problem = value.S
		}
		item[name] = value
	}
	_, err = readToken(dec)
	return item, problem, err
}

// readList reads a list of strings, of binary values or of values; the AWS
// texts for other JSON are the same for all three.
func readList[T any](dec *jsontext.Decoder, element func(*jsontext.Decoder) (T, error)) ([]T, error) {
	switch dec.PeekKind() {
	case jsontext.KindBeginArray:
	case jsontext.KindBeginObject:
		return nil, serializationError(msgStructure)
	case jsontext.KindInvalid:
		return nil, skip(dec)
	default:
		return nil, serializationError(msgFieldType)
	}
	if _, err := readToken(dec); err != nil {
		return nil, err
	}
	list := []T{}
	for dec.PeekKind() != jsontext.KindEndArray {
		value, err := element(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := readToken(dec)
	return list, err
}

func readString(dec *jsontext.Decoder) (string, error) {
	token, err := readToken(dec)
	if err != nil {
		return "", err
	}
	switch token.Kind() {
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindBeginObject:
		return "", serializationError(msgStructure)
	case jsontext.KindBeginArray:
		return "", serializationError(msgCollection + classString)
	default:
		return "", serializationError(scalarName(token) + msgConvertedToStr + "String")
	}
}

func readBytes(dec *jsontext.Decoder) ([]byte, error) {
	token, err := readToken(dec)
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindString:
	case jsontext.KindBeginObject:
		return nil, serializationError(msgStructure)
	case jsontext.KindBeginArray:
		return nil, serializationError(msgCollection + classBytes)
	default:
		return nil, serializationError(msgNotBase64)
	}
	text := token.String()
	if len(text)%4 != 0 {
		return nil, serializationError(msgBase64Length + strconv.Itoa(len(text)))
	}
	// The standard decoder would pass over line ends.
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, serializationError(msgBase64Content)
	}
	return data, nil
}

// textBools are the strings that AWS takes for booleans.
var textBools = map[string]bool{"true": true, "false": false, "yes": true, "no": false}

func readBool(dec *jsontext.Decoder) (bool, error) {
	token, err := readToken(dec)
	if err != nil {
		return false, err
	}
	switch token.Kind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	case jsontext.KindString:
		if b, ok := textBools[strings.ToLower(token.String())]; ok {
			return b, nil
		}
		return false, serializationError(msgParserToken)
	case jsontext.KindBeginObject:
		return false, serializationError(msgStructure)
	case jsontext.KindBeginArray:
		return false, serializationError(msgCollection + classBoolean)
	default:
		return false, serializationError(scalarName(token) + msgConvertedToStr + "Boolean")
	}
}

// scalarName is AWS's parser's name of a JSON scalar.
func scalarName(token jsontext.Token) string {
	switch token.Kind() {
	case jsontext.KindTrue:
		return "TRUE_VALUE"
	case jsontext.KindFalse:
		return "FALSE_VALUE"
	case jsontext.KindNull:
		return "NULL_VALUE"
	case jsontext.KindString:
		return "STRING_VALUE"
	default:
		if strings.ContainsAny(token.String(), ".eE") {
			return "DECIMAL_VALUE"
		}
		return "NUMBER_VALUE"
	}
}

func readToken(dec *jsontext.Decoder) (jsontext.Token, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return token, fmt.Errorf("attribute value: %w", err)
	}
	return token, nil
}

func skip(dec *jsontext.Decoder) error {
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("attribute value: %w", err)
	}
	return nil
}
