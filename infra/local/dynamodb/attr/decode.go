package attr

import (
	"bytes"
	"cmp"
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
		kind, err := decodeKind(dec)
		if err != nil {
			return Value{}, err
		}
		if kind == KindInvalid {
			continue
		}
		types++
		content, wrong, err := decodeContent(dec, kind, depth)
		if err != nil {
			return Value{}, err
		}
		v, problem = content, cmp.Or(problem, wrong)
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

// decodeKind reads the name of a member. Members that are no types, or null,
// are passed over and give KindInvalid.
func decodeKind(dec *jsontext.Decoder) (Kind, error) {
	name, err := readText(dec)
	if err != nil {
		return KindInvalid, err
	}
	kind, known := ParseKind(string(name))
	if !known || dec.PeekKind() == jsontext.KindNull {
		return KindInvalid, skip(dec)
	}
	return kind, nil
}

// decodeContent reads what a member of a type holds; what breaks a rule of
// DynamoDB is returned as AWS's text.
func decodeContent(dec *jsontext.Decoder, kind Kind, depth int) (v Value, problem string, err error) {
	v.Kind = kind
	switch kind {
	case S:
		v.S, err = readString(dec)
	case N:
		v.N, problem, err = readNumber(dec)
	case B:
		v.B, err = readBytes(dec)
	case SS:
		v.SS, problem, err = readStringSet(dec)
	case NS:
		v.NS, problem, err = readNumberSet(dec)
	case BS:
		v.BS, problem, err = readBinarySet(dec)
	case M:
		v.M, problem, err = decodeItem(dec, depth+1)
	case L:
		v.L, problem, err = decodeList(dec, depth+1)
	case BOOL:
		v.Bool, err = readBool(dec)
	default:
		_, err = readBool(dec) // AWS takes {"NULL": false} for null since 2026
	}
	return v, problem, err
}

func readNumber(dec *jsontext.Decoder) (Number, string, error) {
	if err := wantString(dec); err != nil {
		return Number{}, "", err
	}
	text, err := readText(dec)
	if err != nil {
		return Number{}, "", err
	}
	number, problem := parseNumber(string(text))
	return number, problem, nil
}

func readStringSet(dec *jsontext.Decoder) ([]string, string, error) {
	members, err := readList(dec, readString)
	switch {
	case err != nil:
		return nil, "", err
	case len(members) == 0:
		return nil, msgEmptySS, nil
	case hasDuplicate(members, stringKey):
		return nil, msgInvalidPrefix + "Input collection [" + strings.Join(members, ", ") + "] contains duplicates.", nil
	}
	return members, "", nil
}

func readNumberSet(dec *jsontext.Decoder) ([]Number, string, error) {
	problem := ""
	members, err := readList(dec, func(dec *jsontext.Decoder) (Number, error) {
		number, wrong, err := readNumber(dec)
		problem = cmp.Or(problem, wrong)
		return number, err
	})
	switch {
	case err != nil || problem != "":
		return nil, problem, err
	case len(members) == 0:
		return nil, msgEmptyNS, nil
	case hasDuplicate(members, numberKey):
		return nil, msgDuplicateNS, nil
	}
	return members, "", nil
}

func readBinarySet(dec *jsontext.Decoder) ([][]byte, string, error) {
	members, err := readList(dec, readBytes)
	switch {
	case err != nil:
		return nil, "", err
	case len(members) == 0:
		return nil, msgEmptyBS, nil
	case hasDuplicate(members, bytesKey):
		texts := make([]string, len(members))
		for i, m := range members {
			texts[i] = base64.StdEncoding.EncodeToString(m)
		}
		return nil, msgInvalidPrefix + "Input collection [" + strings.Join(texts, ", ") + "]of type BS contains duplicates.", nil
	}
	return members, "", nil
}

func decodeList(dec *jsontext.Decoder, depth int) (list []Value, problem string, err error) {
	list, err = readList(dec, func(dec *jsontext.Decoder) (Value, error) {
		element, err := decodeValue(dec, depth)
		if element.Kind == KindInvalid {
			problem = cmp.Or(problem, element.S)
		}
		return element, err
	})
	return list, problem, err
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
		text, err := readText(dec)
		if err != nil {
			return nil, "", err
		}
		name := string(text)
		value, err := decodeValue(dec, depth)
		if err != nil {
			return nil, "", err
		}
		if value.Kind == KindInvalid {
			problem = cmp.Or(problem, value.S)
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
	if err := wantString(dec); err != nil {
		return "", err
	}
	text, err := readText(dec)
	return string(text), err
}

// wantString refuses anything else than a string, or than broken JSON, which
// reading it will report.
func wantString(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindString, jsontext.KindInvalid:
		return nil
	case jsontext.KindBeginObject:
		return serializationError(msgStructure)
	case jsontext.KindBeginArray:
		return serializationError(msgCollection + classString)
	}
	token, err := readToken(dec)
	if err != nil {
		return err
	}
	return serializationError(scalarName(token) + msgConvertedToStr + "String")
}

// strictBase64 refuses padding that hides bits.
var strictBase64 = base64.StdEncoding.Strict()

func readBytes(dec *jsontext.Decoder) ([]byte, error) {
	switch dec.PeekKind() {
	case jsontext.KindString, jsontext.KindInvalid:
	case jsontext.KindBeginObject:
		return nil, serializationError(msgStructure)
	case jsontext.KindBeginArray:
		return nil, serializationError(msgCollection + classBytes)
	default:
		return nil, serializationError(msgNotBase64)
	}
	text, err := readText(dec)
	if err != nil {
		return nil, err
	}
	if len(text)%4 != 0 {
		return nil, serializationError(msgBase64Length + strconv.Itoa(len(text)))
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := strictBase64.Decode(data, text)
	// The decoder passes over line ends, AWS does not.
	if err != nil || bytes.ContainsAny(text, "\r\n") {
		return nil, serializationError(msgBase64Content)
	}
	return data[:n], nil
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

// readText reads a string or a name; the bytes are valid until the next read.
func readText(dec *jsontext.Decoder) ([]byte, error) {
	quoted, err := dec.ReadValue()
	if err != nil {
		return nil, fmt.Errorf("attribute value: %w", err)
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil, fmt.Errorf("attribute value: %w", err)
	}
	return text, nil
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
