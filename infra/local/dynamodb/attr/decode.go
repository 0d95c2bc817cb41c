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
		return refused(msgNesting), skip(dec)
	}
	switch kind := dec.PeekKind(); kind {
	case jsontext.KindBeginObject:
	case jsontext.KindNull:
		return refused(msgEmptyValue), skip(dec)
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
	types, wrong := 0, problem{}
	for dec.PeekKind() != jsontext.KindEndObject {
		kind, err := decodeKind(dec)
		if err != nil {
			return Value{}, err
		}
		if kind == KindInvalid {
			continue
		}
		types++
		content, broken, err := decodeContent(dec, kind, depth)
		if err != nil {
			return Value{}, err
		}
		v, wrong = content, cmp.Or(wrong, broken)
	}
	if _, err := readToken(dec); err != nil {
		return Value{}, err
	}
	switch {
	case wrong != problem{}:
		return wrong.value(), nil
	case types == 0:
		return refused(msgEmptyValue), nil
	case types > 1:
		return refused(msgManyTypes), nil
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

// decodeContent reads what a member of a type holds, and says which rule of
// DynamoDB it breaks.
func decodeContent(dec *jsontext.Decoder, kind Kind, depth int) (v Value, wrong problem, err error) {
	v.Kind = kind
	switch kind {
	case S:
		v.S, err = readString(dec)
	case N:
		v.N, wrong, err = readNumber(dec)
	case B:
		v.B, err = readBytes(dec)
	case SS:
		v.SS, wrong, err = readStringSet(dec)
	case NS:
		v.NS, wrong, err = readNumberSet(dec)
	case BS:
		v.BS, wrong, err = readBinarySet(dec)
	case M:
		v.M, wrong, err = decodeItem(dec, depth+1)
	case L:
		v.L, wrong, err = decodeList(dec, depth+1)
	case BOOL:
		v.Bool, err = readBool(dec)
	default:
		wrong, err = readNull(dec)
	}
	return v, wrong, err
}

func readNull(dec *jsontext.Decoder) (problem, error) {
	null, err := readBool(dec)
	if err == nil && !null {
		return problem{text: msgFalseNull}, nil
	}
	return problem{}, err
}

func readNumber(dec *jsontext.Decoder) (Number, problem, error) {
	if err := wantString(dec); err != nil {
		return Number{}, problem{}, err
	}
	text, err := readText(dec)
	if err != nil {
		return Number{}, problem{}, err
	}
	number, wrong := parseNumber(string(text))
	return number, wrong, nil
}

func readStringSet(dec *jsontext.Decoder) ([]string, problem, error) {
	members, err := readList(dec, readString)
	switch {
	case err != nil:
		return nil, problem{}, err
	case len(members) == 0:
		return nil, problem{text: msgEmptySS}, nil
	case hasDuplicate(members, stringKey):
		return nil, duplicateStrings(members), nil
	}
	return members, problem{}, nil
}

func readNumberSet(dec *jsontext.Decoder) ([]Number, problem, error) {
	var wrong problem
	members, err := readList(dec, func(dec *jsontext.Decoder) (Number, error) {
		number, broken, err := readNumber(dec)
		wrong = cmp.Or(wrong, broken)
		return number, err
	})
	switch {
	case err != nil || wrong != problem{}:
		return nil, wrong, err
	case len(members) == 0:
		return nil, problem{text: msgEmptyNS}, nil
	case hasDuplicate(members, numberKey):
		return nil, problem{text: msgInvalidPrefix + msgDuplicateNS + ".", older: msgDuplicateNS}, nil
	}
	return members, problem{}, nil
}

func readBinarySet(dec *jsontext.Decoder) ([][]byte, problem, error) {
	members, err := readList(dec, readBytes)
	switch {
	case err != nil:
		return nil, problem{}, err
	case len(members) == 0:
		return nil, problem{text: msgEmptyBS}, nil
	case hasDuplicate(members, bytesKey):
		return nil, duplicateBytes(members), nil
	}
	return members, problem{}, nil
}

func decodeList(dec *jsontext.Decoder, depth int) (list []Value, wrong problem, err error) {
	list, err = readList(dec, func(dec *jsontext.Decoder) (Value, error) {
		element, err := decodeValue(dec, depth)
		if element.Kind == KindInvalid {
			wrong = cmp.Or(wrong, element.problem())
		}
		return element, err
	})
	return list, wrong, err
}

// decodeItem also returns the first problem of the values, in the order given.
func decodeItem(dec *jsontext.Decoder, depth int) (_ Item, wrong problem, err error) {
	switch dec.PeekKind() {
	case jsontext.KindBeginObject:
	case jsontext.KindNull, jsontext.KindInvalid:
		return nil, problem{}, skip(dec)
	case jsontext.KindBeginArray:
		return nil, problem{}, serializationError(msgCollection + classItem)
	default:
		return nil, problem{}, serializationError(msgFieldType)
	}
	if _, err := readToken(dec); err != nil {
		return nil, problem{}, err
	}
	item := Item{}
	for dec.PeekKind() != jsontext.KindEndObject {
		text, err := readText(dec)
		if err != nil {
			return nil, problem{}, err
		}
		name := string(text)
		if name == "" {
			wrong = cmp.Or(wrong, problem{text: msgEmptyName})
		}
		value, err := decodeValue(dec, depth)
		if err != nil {
			return nil, problem{}, err
		}
		if value.Kind == KindInvalid {
			wrong = cmp.Or(wrong, value.problem())
		}
		item[name] = value
	}
	_, err = readToken(dec)
	return item, wrong, err
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
