package httpapi

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// unmarshal decodes as much as fits: a value that doesn't must not make the fields behind it look as if they were absent,
// nor is a number beyond every float64 anyone's business in a field that nobody knows. Error: what does not fit and where,
// as misfit says; the decoder's own error would quote it.
func unmarshal(data []byte, v any) error {
	if json.Unmarshal(data, v) == nil {
		return nil
	}
	err := json.Unmarshal(data, v, json.WithUnmarshalers(numbers))
	if err == nil {
		return nil
	}
	// This one goes on behind what does not fit, and does not tell where that was.
	_ = json.Unmarshal(data, v, json.WithUnmarshalers(numbers), jsonv1.ReportErrorsWithLegacySemantics(true))
	return errors.New(misfit + misfitPlace(data, err))
}

// misfit begins the message about a value that does not fit its field, whose place it is followed by if that can be told.
const misfit = "does not fit "

// misfitPlace is where decoding has failed, "" for the body itself.
func misfitPlace(data []byte, err error) string {
	var failed *json.SemanticError
	if !errors.As(err, &failed) || failed.JSONPointer == "" {
		return ""
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for d.InputOffset() <= failed.ByteOffset || d.StackPointer() != failed.JSONPointer {
		if _, err := d.ReadToken(); err != nil {
			return ""
		}
	}
	return spell(d, failed.JSONPointer)
}

// numbers decode what huma has let through and the decoder alone would not take.
var numbers = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(unknownNumber),
	json.UnmarshalFromFunc(wholeNumber[int]),
	json.UnmarshalFromFunc(wholeNumber[int32]),
	json.UnmarshalFromFunc(wholeNumber[int64]),
	json.UnmarshalFromFunc(wholeNumber[uint]),
	json.UnmarshalFromFunc(wholeNumber[uint32]),
	json.UnmarshalFromFunc(wholeNumber[uint64]),
)

// errNumber is a number that does not fit. Who reads it knows the place.
var errNumber = errors.New("number does not fit")

// unknownNumber reads a number into an any, infinite if it is too large. One that a field asks for is decoded by its own type.
func unknownNumber(d *jsontext.Decoder, v *any) error {
	text, err := readNumber(d)
	if err != nil {
		return err
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errNumber
	}
	*v = number
	return nil
}

// maxExact is the largest whole number up to which a float64 tells all of them apart.
const maxExact = 1<<53 - 1

// wholeNumber reads a number without a fraction, however it is written: 1.0 and 1e2 are integers to JSON Schema, and some
// clients know no others. Beyond maxExact, where such a number means several, it has to be written in digits.
func wholeNumber[T int | int32 | int64 | uint | uint32 | uint64](d *jsontext.Decoder, v *T) error {
	text, err := readNumber(d)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), v); err == nil {
		return nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || number > maxExact || number < -maxExact {
		return errNumber
	}
	whole := T(int64(number))
	if float64(whole) != number { // a fraction, or out of the type's range
		return errNumber
	}
	*v = whole
	return nil
}

// readNumber reads the next value if it is a number, and leaves any other to the decoder.
func readNumber(d *jsontext.Decoder) (string, error) {
	if d.PeekKind() != '0' {
		return "", errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	return string(text), err
}
